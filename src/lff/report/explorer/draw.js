// Figures as SVG, in pixels of the screen so that their words can be read on a phone too.

const SVG = "http://www.w3.org/2000/svg";
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const powerOfTen = (n) => `10${[...String(n)].map((c) => SUPERSCRIPTS[c]).join("")}`;

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const linearAxis = (min, max, ticks, label, unit = "") => ({
  place: (value) => (value - min) / (max - min),
  ticks: ticks.map((value) => [value, `${value}${unit}`.replace("-", "−")]),
  label,
});

function logAxis(low, high, step, label) {
  const ticks = [];
  for (let power = low; power <= high; power += step) ticks.push([10 ** power, powerOfTen(power)]);
  const place = (value) => (value > 0 ? (Math.log10(value) - low) / (high - low) : -9);
  return { place: (value) => Math.min(9, Math.max(-9, place(value))), ticks, label };
}

const MARGIN = { left: 46, right: 20, top: 22, bottom: 38 };

// marks: {lines: [[points, class]], dots: [points, class], level: [y, label, below]}
function plot(svg, x, y, marks) {
  const [width, height] = [Math.max(240, svg.clientWidth), Math.max(180, svg.clientHeight)];
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const px = (value) => x.place(value) * inner.width;
  const py = (value) => (1 - y.place(value)) * inner.height;
  const frame = element("g", { transform: `translate(${MARGIN.left},${MARGIN.top})` });
  const few = inner.width < 340 && x.ticks.length > 5;
  x.ticks.forEach(([value, text], i) => {
    frame.append(element("line", { class: "rule", x1: px(value), x2: px(value), y1: 0, y2: inner.height }));
    if (few && i % 2) return;
    frame.append(element("text", { class: "tick", x: px(value), y: inner.height + 16, "text-anchor": "middle" }, text));
  });
  for (const [value, text] of y.ticks) {
    frame.append(element("line", { class: "rule", x1: 0, x2: inner.width, y1: py(value), y2: py(value) }));
    frame.append(element("text", { class: "tick", x: -7, y: py(value) + 4, "text-anchor": "end" }, text));
  }
  frame.append(element("text", { class: "axis", x: inner.width / 2, y: inner.height + 33, "text-anchor": "middle" }, x.label));
  frame.append(element("text", { class: "axis", x: -MARGIN.left + 4, y: -9 }, y.label));
  const clipped = element("svg", { width: inner.width, height: inner.height });
  const [level, words, below] = marks.level ?? [];
  if (level) {
    clipped.append(element("line", { class: "level", x1: 0, x2: inner.width, y1: py(level), y2: py(level) }));
  }
  for (const [points, kind] of marks.lines) {
    const path = points.map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(" ");
    clipped.append(element("polyline", { class: `curve ${kind}`, points: path }));
  }
  for (const [points, kind, size] of marks.dots ?? []) {
    for (const [a, b] of points) {
      clipped.append(element("circle", { class: kind, cx: px(a).toFixed(1), cy: py(b).toFixed(1), r: size }));
    }
  }
  if (level) {
    const at = below || py(level) < 20 ? py(level) + 16 : py(level) - 6;
    clipped.append(element("text", { class: "tick words", x: inner.width - 6, y: at, "text-anchor": "end" }, words));
  }
  frame.append(clipped);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(frame);
}
