// Kernels on the circle, their spectra, and what gradient flow makes of them.
//
// All points have one norm, so that a kernel depends on the angle alone, and a covariance is kept as
// its variance v and its gap d = 1 - correlation: 1 - cos loses no digits this way when a small σ
// makes all features alike.

const TWO_PI = 2 * Math.PI;
const POINTS = 256; // grid of kernel and spectrum
const SAMPLES = 64; // noisy points of the fit, every fourth of the grid
const SHOWN = 32; // highest frequency drawn

const angles = (n) => Array.from({ length: n }, (_, j) => (TWO_PI * j) / n);
const gapOf = (angle) => 2 * Math.sin(angle / 2) ** 2; // 1 - cos

// A front returns {variance, gap, tangent} of what the first dense layer sees.
function fourierFront(net, gap) {
  const half = net.fourierDim / 2;
  const kept = net.concat ? net.radius ** 2 : 0;
  const width = net.fourierDim + (net.concat ? 2 : 0);
  const spread = (TWO_PI * net.sigma * net.radius) ** 2 * gap; // half the squared phase difference
  const own = TWO_PI ** 2 * net.radius ** 2 * (1 - gap) * half * Math.exp(-spread);
  return {
    variance: (half + kept) / width,
    gap: (-half * Math.expm1(-spread) + kept * gap) / (half + kept),
    tangent: net.trained ? own / width : 0,
  };
}

const rawFront = (net, gap) => ({ variance: net.radius ** 2 / 2, gap, tangent: 0 });

// sin a - a cos a, also for a small angle
function bend(angle) {
  if (angle > 0.05) return Math.sin(angle) - angle * Math.cos(angle);
  const square = angle * angle;
  return angle * square * (1 / 3 - square * (1 / 30 - square / 840));
}

// Dense layers with weight_std = √2 and no biases around ReLUs: arc-cosine kernels of order 1 and 0.
function deepKernel(front, net, gap) {
  let { variance, gap: apart, tangent } = front(net, gap);
  for (let layer = 0; layer < net.depth; layer += 1) {
    tangent = 2 * variance * (1 - apart) + 2 * tangent;
    const angle = 2 * Math.asin(Math.min(1, Math.sqrt(apart / 2)));
    tangent *= (Math.PI - angle) / TWO_PI;
    apart -= bend(angle) / Math.PI; // the variance is doubled by the weights, halved by the ReLU
  }
  return 2 * variance * (1 - apart) + 2 * tangent;
}

// Lemma 1, whose σ is 2π times that of the layer.
function lemmaKernel(net, gap) {
  const square = net.radius ** 2;
  return (1 + square * (1 - gap)) * Math.exp(-((TWO_PI * net.sigma) ** 2) * square * gap);
}

const KERNELS = {
  lff: (net, gap) => deepKernel(fourierFront, net, gap),
  mlp: (net, gap) => deepKernel(rawFront, net, gap),
  lemma: lemmaKernel,
};

// k(angle) / k(0) on n points
function normalized(kernel, net, n) {
  const top = kernel(net, 0);
  const half = Array.from({ length: (n >> 1) + 1 }, (_, j) => kernel(net, gapOf((TWO_PI * j) / n)) / top);
  return Array.from({ length: n }, (_, j) => half[Math.min(j, n - j)]);
}

const COSINES = Array.from({ length: POINTS }, (_, j) => Math.cos((TWO_PI * j) / POINTS));

// λ_k / n of one frequency: Lemma 3
function eigenvalue(values, k) {
  const n = values.length;
  const step = POINTS / n;
  let sum = 0;
  for (let j = 0; j < n; j += 1) sum += values[j] * COSINES[((j * k) % n) * step];
  return sum / n;
}

const spectrumOf = (values) =>
  Array.from({ length: (values.length >> 1) + 1 }, (_, k) => eigenvalue(values, k));

// Steps of rate 1/λ_max after which a frequency has fallen to 1/e; below rounding it never does.
const ROUNDING = 1e-14;
function learningTimes(spectrum) {
  const largest = Math.max(...spectrum);
  return spectrum.map((value) => (value > ROUNDING * largest ? largest / value : Infinity));
}

// Gradient flow from zero on the samples for a time in units of 1/λ_max (Lemma 2), seen on the grid:
// f(x) = Σ_i k(x, x_i) a_i with â_k = ŷ_k (1 - exp(-η λ_k t)) / λ_k.
function fitOf(values, samples, time) {
  const n = samples.length;
  const stride = POINTS / n;
  const spectrum = spectrumOf(values.filter((_, j) => j % stride === 0));
  const largest = Math.max(...spectrum);
  const weights = new Array(n).fill(0);
  for (let k = 0; k < n; k += 1) {
    const value = Math.max(0, spectrum[Math.min(k, n - k)]) / largest;
    const share = value * time > 1e-300 ? -Math.expm1(-value * time) / value : time;
    let [real, imaginary] = [0, 0];
    for (let j = 0; j < n; j += 1) {
      const turn = ((j * k) % n) * stride;
      real += samples[j] * COSINES[turn];
      imaginary += samples[j] * COSINES[(turn + POINTS / 4) % POINTS]; // -sin
    }
    for (let j = 0; j < n; j += 1) {
      const turn = ((j * k) % n) * stride;
      const sine = -COSINES[(turn + POINTS / 4) % POINTS];
      weights[j] += (share * (real * COSINES[turn] - imaginary * sine)) / (n * n * largest);
    }
  }
  return Array.from({ length: POINTS }, (_, j) => {
    let sum = 0;
    for (let i = 0; i < n; i += 1) sum += values[(j - i * stride + POINTS) % POINTS] * weights[i];
    return sum;
  });
}

// The smallest σ with which frequency k weighs as much as in the MLP; null if there is none.
function breakEven(net, k) {
  const goal = eigenvalue(normalized(KERNELS.mlp, net, POINTS), k);
  const above = (log) =>
    eigenvalue(normalized(KERNELS.lff, { ...net, sigma: 10 ** log }, POINTS), k) >= goal;
  let [low, high] = [-4, null];
  if (above(low)) return null;
  for (let log = low + 0.1; log < 1.05 && high === null; log += 0.1) {
    if (above(log)) high = log;
    else low = log;
  }
  if (high === null) return null;
  for (let turn = 0; turn < 45; turn += 1) {
    const middle = (low + high) / 2;
    if (above(middle)) high = middle;
    else low = middle;
  }
  return 10 ** high;
}

// The same, searched again only when something that it depends on has moved.
const remembered = { key: "", value: null };
function breakEvenOf({ fourierDim, depth, concat, trained, radius }) {
  const net = { fourierDim, depth, concat, trained, radius };
  const key = JSON.stringify(net);
  if (key !== remembered.key) Object.assign(remembered, { key, value: breakEven(net, 16) });
  return remembered.value;
}

// σ below which the concatenated input outweighs the waves
const sigmaFloor = (net) => (net.concat ? 1 / (TWO_PI * Math.sqrt(net.fourierDim / 2)) : null);

// A signal of frequencies 1, 3 and 8, and noise that is the same on every machine.
const signal = (angle) =>
  0.8 * Math.sin(angle) + 0.45 * Math.cos(3 * angle) + 0.25 * Math.sin(8 * angle);

function noiseOf(seed, n) {
  let state = (seed * 2654435761) >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 4294967296;
  };
  return Array.from({ length: n }, () => {
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    return radius * Math.cos(TWO_PI * uniform());
  });
}

const rootMeanSquare = (a, b) =>
  Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0) / a.length);

// Everything the page shows, from the state of its controls.
function compute(state) {
  const clean = angles(POINTS).map(signal);
  const noise = noiseOf(state.seed, SAMPLES);
  const stride = POINTS / SAMPLES;
  const samples = noise.map((value, i) => clean[i * stride] + state.noise * value);
  const result = { state, clean, samples, floor: sigmaFloor(state), breakEven: breakEvenOf(state) };
  for (const [name, kernel] of Object.entries(KERNELS)) {
    const values = normalized(kernel, state, POINTS);
    const spectrum = spectrumOf(values);
    result[name] = { top: kernel(state, 0), kernel: values, spectrum, times: learningTimes(spectrum) };
    if (name === "lemma") continue;
    const fit = fitOf(values, samples, state.time);
    const error = rootMeanSquare(fit, clean);
    const trainError = rootMeanSquare(fit.filter((_, j) => j % stride === 0), samples);
    Object.assign(result[name], { fit, error, trainError });
  }
  return result;
}
