// The controls, and what is written and drawn when one of them moves.

const byId = (id) => document.getElementById(id);
const SLIDERS = ["sigma", "fourierDim", "depth", "radius", "time", "noise"];
const SCALES = {
  sigma: (value) => 10 ** value,
  fourierDim: (value) => 2 ** value,
  depth: (value) => value,
  radius: (value) => 10 ** value,
  time: (value) => 10 ** value,
  noise: (value) => value,
};
const BACK = { ...SCALES, sigma: Math.log10, fourierDim: Math.log2, radius: Math.log10, time: Math.log10 };
const BOXES = ["concat", "trained", "lemma"];
let seed = 1;

function short(value) {
  if (value === Infinity) return "never";
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (power >= 5 || power < -4) return `${(value / 10 ** power).toFixed(1)} · ${powerOfTen(power)}`;
  if (power >= 3) return String(Math.round(value)).replace(/(\d)(?=(\d{3})+$)/g, "$1,");
  return String(Number(value.toPrecision(3)));
}

function readState() {
  const state = { concat: byId("concat").checked, trained: byId("trained").checked, seed };
  for (const name of SLIDERS) state[name] = SCALES[name](Number(byId(name).value));
  return state;
}

function setState(changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (BOXES.includes(name)) byId(name).checked = value;
    else byId(name).value = BACK[name](value);
  }
  update();
}

// The settings in the page's address: #sigma=0.03&depth=2&..., so that a link shows what you see.
function writeAddress() {
  const { seed: draw, ...state } = readState();
  const parts = new URLSearchParams();
  for (const name of SLIDERS) parts.set(name, String(Number(state[name].toPrecision(4))));
  for (const name of BOXES) parts.set(name, String(Number(byId(name).checked)));
  parts.set("seed", String(draw));
  parts.set("critic", byId("critic-sigma").value);
  history.replaceState(null, "", `#${parts}`);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const changes = {};
  for (const [name, text] of parts) {
    const value = Number(text);
    if (!text || !Number.isFinite(value)) continue;
    if (BOXES.includes(name)) changes[name] = value === 1;
    else if (SLIDERS.includes(name) && Number.isFinite(BACK[name](value))) changes[name] = value;
    else if (name === "seed" && Number.isInteger(value) && value > 0 && value < 1e6) seed = value;
    else if (name === "critic") byId("critic-sigma").value = value;
  }
  press(null);
  setState(changes); // a slider takes what lies beyond its ends as its end
  return parts.size > 0;
}

const zipped = (xs, ys) => ys.map((value, i) => [xs[i], value]);
const DEGREES = angles(POINTS + 1).map((_, j) => (360 * j) / POINTS - 180);
const around = (values) => zipped(DEGREES, DEGREES.map((_, j) => values[(j + POINTS / 2) % POINTS]));
// frequencies that are zero but for rounding are left out: they are never learned
const byFrequency = (net, name) =>
  net[name].slice(0, SHOWN + 1).map((value, k) => [k, value]).filter(([k]) => net.times[k] < Infinity);
const CIRCLE = (label) => linearAxis(-180, 180, [-180, -90, 0, 90, 180], label, "°");
const FREQUENCY = linearAxis(0, SHOWN, [0, 4, 8, 12, 16, 20, 24, 28, 32], "frequency k (swings around the circle)");

function draw(numbers) {
  const { lff, mlp, lemma, state } = numbers;
  const shown = byId("lemma").checked;
  const curves = (of) => [
    [of(mlp), "s2"],
    ...(shown ? [[of(lemma), "s1 dashed"]] : []),
    [of(lff), "s0 strong"],
  ];
  const dots = (name) => [
    [byFrequency(mlp, name), "f2", 2],
    [byFrequency(lff, name), "f0", 2.5],
  ];
  const spectral = (name) => ({ lines: curves((net) => byFrequency(net, name)), dots: dots(name) });
  plot(byId("kernel-plot"), CIRCLE("angle between two inputs"), linearAxis(-1, 1.05, [-1, -0.5, 0, 0.5, 1], "k(θ) / k(0)"), {
    lines: curves((net) => around(net.kernel)),
  });
  plot(byId("spectrum-plot"), FREQUENCY, logAxis(-9, 0, 3, "eigenvalue, share of k(0)"), spectral("spectrum"));
  plot(byId("times-plot"), FREQUENCY, logAxis(0, 9, 3, "learning time (steps)"), {
    ...spectral("times"),
    level: [state.time, "training time of the fit", state.time > 20 && lff.times[24] > state.time],
  });
  const at = numbers.samples.map((value, i) => [((360 * i) / SAMPLES + 180) % 360 - 180, value]);
  plot(byId("fit-plot"), CIRCLE("position on the circle"), linearAxis(-2, 2, [-2, -1, 0, 1, 2], "output"), {
    lines: [[around(numbers.clean), "truth"], [around(mlp.fit), "s2"], [around(lff.fit), "s0 strong"]],
    dots: [[at, "sample", 2]],
  });
}

function faster(ratio, what) {
  if (ratio > 1.15) return `${what} ${short(ratio)} times later than the MLP`;
  if (ratio < 1 / 1.15) return `${what} ${short(1 / ratio)} times sooner than the MLP`;
  return `${what} when the MLP does`;
}

function width(values) {
  const below = values.findIndex((value) => value < 0.5);
  return below < 0 ? "it never falls to half" : `it falls to half at ${Math.round((360 * below) / POINTS)}°`;
}

function say(numbers) {
  const { lff, mlp, floor, state } = numbers;
  const own = Math.max(...lff.spectrum);
  byId("kernel-say").textContent = `Now ${width(lff.kernel)}; of the MLP's kernel, ${width(mlp.kernel)}.`;
  byId("spectrum-say").textContent =
    `Now frequency 16 has ${short(lff.spectrum[16] / own)} of the largest eigenvalue; ` +
    `in the MLP ${short(mlp.spectrum[16] / Math.max(...mlp.spectrum))}.`;
  const odd = state.depth === 1 ? " One hidden layer without biases never learns odd frequencies above 1 (MLP)." : "";
  byId("times-say").textContent = `Now ${faster(lff.times[16] / mlp.times[16], "frequency 16 is learned")}.${odd}`;
  byId("fit-say").textContent =
    `Now, error to the true curve: LFF ${short(lff.error)}, MLP ${short(mlp.error)}; ` +
    `to the noisy points: LFF ${short(lff.trainError)}, MLP ${short(mlp.trainError)}.`;
  byId("read-floor").textContent = floor === null ? "none" : short(floor);
  byId("read-even").textContent = numbers.breakEven === null ? "none" : short(numbers.breakEven);
  byId("read-phase").textContent = `${short(TWO_PI * state.sigma * state.radius)} rad`;
  byId("read-even-note").textContent =
    numbers.breakEven === null ? "no σ from 0.0001 to 10" : "σ where λ₁₆ is the MLP's";
  byId("read-floor-note").textContent =
    floor === null ? "x is not concatenated" : state.sigma < floor ? "σ is below it: x decides" : "σ is above it: waves count";
}

function tabulate({ lff, mlp }) {
  const rows = Array.from({ length: 17 }, (_, k) => {
    const row = document.createElement("tr");
    const cells = [lff, mlp].flatMap(({ spectrum, times }) => [
      times[k] === Infinity ? 0 : spectrum[k], // zero but for rounding
      times[k],
    ]);
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = String(k);
    row.append(head);
    for (const value of cells) {
      const cell = row.insertCell();
      cell.className = "number";
      cell.textContent = short(value);
    }
    return row;
  });
  byId("eigenvalues").replaceChildren(...rows);
}

function label(state) {
  for (const name of SLIDERS) {
    byId(`${name}-value`).textContent = short(state[name]);
    byId(name).setAttribute("aria-valuetext", short(state[name]));
  }
  for (const button of document.querySelectorAll("[data-sigma]")) {
    const chosen = Math.abs(Math.log10(state.sigma / Number(button.dataset.sigma))) < 0.005;
    button.setAttribute("aria-pressed", String(chosen));
  }
}

function showCritic() {
  const [lff, mlp] = [critic(Number(byId("critic-sigma").value)), critic(0)];
  byId("maze-name").textContent = `σ = ${lff.sigma}`;
  byId("critic-sigma-value").textContent = String(lff.sigma);
  byId("critic-sigma").setAttribute("aria-valuetext", String(lff.sigma));
  drawValues(byId("maze-optimal"), OPTIMAL);
  drawValues(byId("maze-lff"), lff.q);
  drawValues(byId("maze-mlp"), mlp.q);
  byId("critic-say").textContent =
    `Mean squared error to Q*: LFF ${short(lff.error)}, MLP ${short(mlp.error)}. What the greedy policy earns, ` +
    `0 for the uniform policy and 1 for the optimal one: LFF ${short(lff.earned)}, MLP ${short(mlp.earned)}.`;
  return { lff, mlp };
}

let numbers = null;
function update() {
  numbers = { ...compute(readState()), critics: showCritic() };
  label(numbers.state);
  say(numbers);
  tabulate(numbers);
  draw(numbers);
  byId("numbers").textContent = JSON.stringify(numbers);
}

const STOPS = document.querySelectorAll("[data-state]");
function press(button) {
  for (const stop of STOPS) stop.setAttribute("aria-pressed", String(stop === button));
}

for (const name of [...SLIDERS, ...BOXES, "critic-sigma"]) {
  byId(name).addEventListener("input", () => {
    if (name !== "lemma" && name !== "critic-sigma") press(null);
    update();
    writeAddress();
  });
}
for (const button of document.querySelectorAll("[data-sigma]")) {
  button.addEventListener("click", () => {
    press(null);
    setState({ sigma: Number(button.dataset.sigma) });
    writeAddress();
  });
}
function visit(button) {
  setState(JSON.parse(button.dataset.state));
  byId("tour-say").textContent = button.dataset.text;
  press(button);
}
for (const button of STOPS) {
  button.addEventListener("click", () => {
    visit(button);
    writeAddress();
  });
}
byId("again").addEventListener("click", () => {
  seed += 1;
  update();
  writeAddress();
});
const small = matchMedia("(max-width: 52rem)");
const fold = () => {
  byId("rest").open = !small.matches;
};
small.addEventListener("change", fold);
fold();
addEventListener("hashchange", readAddress);
if (!readAddress()) visit(STOPS[1]); // a small σ: LFF filters the noise that the MLP follows
new ResizeObserver(() => draw(numbers)).observe(byId("figures"));
