// Critics that were trained on a maze (examples/explorer_critics.py): their Q from their weights.

function unpack(text) {
  return new Float32Array(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer);
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

// sin(2πBx) ‖ cos(2πBx) ‖ x, with the rows of B one after the other
function fourierFeatures(basis, x) {
  const rows = Array.from({ length: basis.length / x.length }, (_, i) =>
    basis.subarray(i * x.length, (i + 1) * x.length),
  );
  const phases = rows.map((row) => TWO_PI * dot(x, row));
  return [...phases.map(Math.sin), ...phases.map(Math.cos), ...x];
}

// Dense layers, weights (in, out) and biases in turn, with ReLUs between them
function denseLayers(shapes, weights, x) {
  let values = x;
  for (let i = 0; i < shapes.length; i += 2) {
    const width = shapes[i][1];
    const next = [...weights[i + 1]];
    values.forEach((value, j) => {
      for (let k = 0; k < width; k += 1) next[k] += value * weights[i][j * width + k];
    });
    values = i + 2 < shapes.length ? next.map((value) => Math.max(0, value)) : next;
  }
  return values;
}

const SIDE = CRITICS.tiles.length;
const CELLS = [...CRITICS.tiles.join("")];
const PLACES = CELLS.map((_, i) => [Math.floor(i / SIDE), i % SIDE].map((v) => (2 * v) / (SIDE - 1) - 1));
const byCell = (flat) => CELLS.map((_, i) => flat.slice(i * CRITICS.actions, (i + 1) * CRITICS.actions));
const OPTIMAL = byCell([...unpack(CRITICS.optimal)]);

function qOf(critic) {
  const basis = critic.basis && unpack(critic.basis);
  const weights = critic.weights.map(unpack);
  return PLACES.map((x) => denseLayers(critic.shapes, weights, basis ? fourierFeatures(basis, x) : x));
}

// Mean square over actions and the cells that are not walls
function errorOf(q) {
  const free = q.flatMap((values, i) => (CELLS[i] === "#" ? [] : values.map((v, a) => (v - OPTIMAL[i][a]) ** 2)));
  return free.reduce((sum, value) => sum + value, 0) / free.length;
}

const tabled = new Map(); // computed when first looked at
function critic(place) {
  if (!tabled.has(place)) {
    const { name, sigma, return: earned } = CRITICS.critics[place];
    const q = qOf(CRITICS.critics[place]);
    tabled.set(place, { name, sigma, earned, q, error: errorOf(q) });
  }
  return tabled.get(place);
}

const SHADES = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const best = (q) => q.map((values) => Math.max(...values));
const RANGE = [Math.min(...best(OPTIMAL)), Math.max(...best(OPTIMAL))];

function shade(value) {
  const place = Math.min(0.9999, Math.max(0, (value - RANGE[0]) / (RANGE[1] - RANGE[0]))) * (SHADES.length - 1);
  const [low, high] = [SHADES[Math.floor(place)], SHADES[Math.floor(place) + 1]];
  return low.map((part, i) => Math.round(part + (place % 1) * (high[i] - part)));
}

// max_a Q of each cell on the scale of Q*; walls are left out
function drawValues(canvas, q) {
  [canvas.width, canvas.height] = [SIDE, SIDE];
  const image = new ImageData(SIDE, SIDE);
  best(q).forEach((value, i) => {
    if (CELLS[i] !== "#") image.data.set([...shade(value), 255], 4 * i);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}
