// A network of front and ReLU layers: where its numbers are, forward, backward, and Adam.
//
//   front    x -> [waves | cosines | ones | x]         sections of the first layer's input
//   layers   z = W h + b, normalised if asked for, h = max(z, 0)
//   head     one number (critics), or twice as many as there are actions (actor: mean and spread)
//
// A shape S gives the sizes: in, wave, rows (of the basis), trained, ones, concat, depth, hidden[],
// normed, tangents (tanh for ReLU: acting alone), by_output (weights are (out, in), as in torch's Linear, and not (in, out)), Output, plain.
#pragma once

#include "kernels.hpp"

namespace lff {

enum class Wave { none, sine, linear, tangent };
constexpr float two_pi = 6.283185307179586f;

// One parameter of the agent: its own memory, Adam's moments, where it started, the target's copy,
// and the rule that moves it.
struct Slot {
  float *value, *first, *second, *start, *target;
  float lr, l2, l1, anchor, decoupled;
  Slot at(size_t offset) const {
    const auto move = [&](float* p) { return p ? p + offset : nullptr; };
    return {move(value), move(first), move(second), move(start), move(target), lr, l2, l1, anchor, decoupled};
  }
  INLINE const float* of(bool from_target) const { return from_target ? target : value; }
};

template <class S>
struct Layout {
  static constexpr int rows = S::wave == Wave::none ? 0 : S::rows;
  static constexpr int cosines = S::wave == Wave::sine ? rows : 0;
  using Stored = Columns<rows, cosines, S::ones, S::in>;
  using Input = Columns<rows, cosines, S::ones, (S::concat ? S::in : 0)>;
  using Waves = Columns<rows, cosines>;
  using Basis = Columns<rows>;
  using Raw = Columns<S::in>;
  using Output = typename S::Output;
  static constexpr int raw_panel = Stored::first_panel(3), ones_panel = Stored::first_panel(2);
  template <int l>
  using Hidden = Columns<S::hidden[l]>;
  template <int l>
  static constexpr auto input_of() {
    if constexpr (l == 0) return Input{};
    else return Hidden<l - 1>{};
  }
  template <int l>
  using InputOf = decltype(input_of<l>());
  static constexpr int hidden_panels(int layers) {  // of the first so many layers
    int n = 0;
    for (int l = 0; l < layers; ++l) n += panels_of(S::hidden[l]);
    return n;
  }
  static constexpr int packed_floats() {  // of the largest packed right factor
    int most = 0, in = Input::total > S::in ? Input::total : S::in;
    const auto see = [&](int k, int n) {
      if (pad(k, panel) * pad(n, panel) > most) most = pad(k, panel) * pad(n, panel);
    };
    see(in, 3 * pad(rows, panel) + 2 * pad(S::in, panel));  // the sections are padded one by one
    for (int l = 0; l < S::depth; ++l) {
      see(in + 3 * panel, S::hidden[l]);
      see(S::hidden[l], in + 4 * panel);
      in = S::hidden[l];
    }
    see(in, Output::panels * panel);
    see(Output::panels * panel, in);
    return most;
  }
};

template <class S>
struct Params {
  Slot basis, weight[S::depth + 1], bias[S::depth + 1], scale[S::depth], shift[S::depth];

  // Calls f(slot, size of one member) in the order in which the caller lists its tensors.
  template <class F>
  void each(const F& f) {
    using L = Layout<S>;
    if constexpr (S::wave != Wave::none) f(basis, L::rows * S::in);
    int in = L::Input::total;
    for (int l = 0; l <= S::depth; ++l) {
      const int out = l < S::depth ? S::hidden[l] : L::Output::total;
      f(weight[l], in * out);
      f(bias[l], out);
      if (S::normed && l < S::depth) f(scale[l], out), f(shift[l], out);
      in = out;
    }
  }
  Params member(int m) const {
    Params one = *this;
    one.each([&](Slot& slot, int size) { slot = slot.at((size_t)m * size); });
    return one;
  }
};

// What a forward pass leaves behind, row by row.
template <class S, int capacity_>
struct Tape {
  using L = Layout<S>;
  static constexpr int capacity = capacity_;
  alignas(64) float x[(size_t)L::Stored::panels * capacity * panel];
  alignas(64) float h[(size_t)L::hidden_panels(S::depth) * capacity * panel];
  alignas(64) float normal[S::normed ? (size_t)L::hidden_panels(S::depth) * capacity * panel : 1];
  float rate[S::normed ? S::depth * capacity : 1];  // 1 / standard deviation of each row

  template <int l>
  float* hidden() { return h + (size_t)L::hidden_panels(l) * capacity * panel; }
  template <int l>
  float* normalised() { return normal + (size_t)L::hidden_panels(l) * capacity * panel; }
  template <int l>
  float* input() {
    if constexpr (l == 0) return x;
    else return hidden<l - 1>();
  }
  float* raw() { return x + (size_t)L::raw_panel * capacity * panel; }

  // Writes n numbers into the input, from `column` of its raw section on.
  void write(int row, int column, const float* from, int n) {
    while (n > 0) {
      const int inside = column % panel, count = n < panel - inside ? n : panel - inside;
      std::memcpy(raw() + ((size_t)(column / panel) * capacity + row) * panel + inside, from,
                  sizeof(float) * count);
      column += count, from += count, n -= count;
    }
  }
  void set_ones() {
    for (size_t i = 0; i < (size_t)panels_of(S::ones) * capacity * panel; ++i)
      x[(size_t)L::ones_panel * capacity * panel + i] = 1.f;
  }
};

// Gradients by the layers' results: d before the nonlinearity and norm, e between the two.
template <class S, int capacity_>
struct Slopes {
  using L = Layout<S>;
  static constexpr int capacity = capacity_;
  alignas(64) float d[(size_t)L::hidden_panels(S::depth) * capacity * panel];
  alignas(64) float e[S::normed ? (size_t)L::hidden_panels(S::depth) * capacity * panel : 1];
  alignas(64) float phase[L::rows ? (size_t)L::Basis::panels * capacity * panel : 1];

  template <int l>
  float* by_sum() { return d + (size_t)L::hidden_panels(l) * capacity * panel; }
  template <int l>
  float* by_relu() {
    if constexpr (S::normed) return e + (size_t)L::hidden_panels(l) * capacity * panel;
    else return by_sum<l>();
  }
};

// ---------------------------------------------------------------------------------- epilogues

template <int capacity>
INLINE size_t place(const Spot& s) {
  return ((size_t)s.panel_number * capacity + s.row) * panel + s.vector * lanes;
}

template <int capacity, bool relu>
struct WithBias {
  float* out;
  const float* bias;
  template <int n>
  INLINE void put(Vec v, const Spot& s) const {
    v = v + load<n>(bias + s.column);
    if constexpr (relu) v = select(v < 0.f, Vec{}, v);  // NaN stays
    store(out + place<capacity>(s), v);
  }
};

template <int capacity, bool add>
struct Put {
  float* out;
  template <int n>
  INLINE void put(Vec v, const Spot& s) const {
    float* p = out + place<capacity>(s);
    store(p, add ? load(p) + v : v);
  }
};

// Gradient by the sum before a ReLU: nothing where the ReLU gave 0 or less (NaN lets it pass, as
// torch does).  `rows` says which row of the forward pass a row is, if not the same.
template <int capacity, int capacity_h, bool listed>
struct ThroughRelu {
  float* out;
  const float* h;
  const int* rows;
  template <int n>
  INLINE void put(Vec v, const Spot& s) const {
    Spot there = s;
    if constexpr (listed) there.row = rows[s.row];
    store(out + place<capacity>(s), select(load(h + place<capacity_h>(there)) <= 0.f, Vec{}, v));
  }
};

template <Wave wave, int capacity, size_t cosines>
struct Embed {
  float* out;
  template <int n>
  INLINE void put(Vec v, const Spot& s) const {
    float* p = out + place<capacity>(s);
    v = v * two_pi;
    if constexpr (wave == Wave::sine) {
      Vec sine, cosine;
      sine_cosine(v, sine, cosine);
      store(p, sine);
      store(p + cosines, cosine);
    } else {
      store(p, wave == Wave::tangent ? tangent(v) : v);
    }
  }
};

// Gradient by the phase, from the gradient by the waves: first by the sines, then, in a second
// pass over the panels behind them, by the cosines.
template <Wave wave, int capacity, int capacity_x, int panels, bool listed>
struct ThroughWave {
  float* out;
  const float* x;
  const int* rows;
  template <int n>
  INLINE void put(Vec v, const Spot& s) const {
    Spot here = s, there = s;
    if constexpr (listed) there.row = rows[s.row];
    if constexpr (wave == Wave::sine) {
      const bool by_cosine = s.panel_number >= panels;
      here.panel_number -= by_cosine ? panels : 0;
      there.panel_number += by_cosine ? -panels : panels;  // the other one of the pair
      float* p = out + place<capacity>(here);
      const Vec other = load(x + place<capacity_x>(there));
      store(p, by_cosine ? load(p) - two_pi * (v * other) : two_pi * (v * other));
    } else {
      const Vec y = load(x + place<capacity_x>(there));
      store(out + place<capacity>(here), wave == Wave::tangent ? two_pi * (v * (1.f - y * y)) : two_pi * v);
    }
  }
};

INLINE Vec toward(Vec from, Vec to, float weight) {  // torch's lerp, exact at both ends
  return weight < 0.5f ? from + weight * (to - from) : to - (to - from) * (1.f - weight);
}

// Adam (beta 0.9 and 0.999) on a piece of one parameter, and the target's step behind it.
struct Moves {
  float scale, eps;  // bias corrections of this step
  float share;       // what the target takes over, 0 for nothing
};

template <bool plain>
struct Adam {
  Slot slot;
  int stride;
  Moves moves;
  template <int n>
  INLINE void step(Vec g, size_t at) const {
    Vec p = load<n>(slot.value + at), step = fill(slot.lr * moves.scale);
    if constexpr (!plain) {
      const Vec old = p;
      if (slot.l2 != 0.f && slot.decoupled == 0.f) g = g + slot.l2 * old;
      if (slot.l1 != 0.f) g = g + select(old > 0.f, fill(slot.l1), select(old < 0.f, fill(-slot.l1), slot.l1 * old));
      if (slot.anchor != 0.f) g = g + slot.anchor * (old - load<n>(slot.start + at));
      if (slot.l2 != 0.f && slot.decoupled != 0.f) p = p * (1.f - slot.lr * slot.l2);
    }
    Vec m = load<n>(slot.first + at), v = load<n>(slot.second + at);
    m = m + 0.1f * (g - m);
    v = v * 0.999f + (0.001f * g) * g;
    p = p - step * m / (root(v) + moves.eps);
    store<n>(slot.first + at, m);
    store<n>(slot.second + at, v);
    store<n>(slot.value + at, p);
    if (moves.share != 0.f) {
      float* t = slot.target + at;
      store<n>(t, toward(load<n>(t), p, moves.share));
    }
  }
  template <int n>
  INLINE void put(Vec g, const Spot& s) const { step<n>(g, (size_t)s.row * stride + s.column); }
  // Fetches what `put` will read while the sums are made.
  template <int R, int width>
  INLINE void prepare(int row, int column) const {
    UNROLL for (int r = 0; r < R; ++r) {
      const size_t at = (size_t)(row + r) * stride + column;
      UNROLL for (int c = 0; c < width; c += 16) {
        __builtin_prefetch(slot.value + at + c, 1);
        __builtin_prefetch(slot.first + at + c, 1);
        __builtin_prefetch(slot.second + at + c, 1);
        if (moves.share != 0.f) __builtin_prefetch(slot.target + at + c, 1);
      }
    }
  }
};

// ---------------------------------------------------------------------------------- forward

// Rows of z become rows of max(scale (z - mean) / deviation + shift, 0), in place.
template <class N, int capacity>
void normalise(float* h, float* normal, float* rate, const float* scale, const float* shift, int first, int last) {
  constexpr float inverse = 1.f / N::total;
  const auto each = [](const auto& f) {
    each_panel<N>([&](int number, int start, auto width) {
      each_vector<width>([&](int i, auto n) { f((size_t)number * capacity * panel + i, start + i, n); });
    });
  };
  for (int row = first; row < last; ++row) {
    float *z = h + (size_t)row * panel, *out = normal + (size_t)row * panel;
    Vec total{}, squares{};
    each([&](size_t at, int, auto n) { total += keep<n>(load(z + at)); });
    const float mean = sum(total) * inverse;
    each([&](size_t at, int, auto n) {
      const Vec gap = keep<n>(load(z + at) - mean);
      squares += gap * gap;
    });
    rate[row] = 1.f / std::sqrt(sum(squares) * inverse + 1e-5f);
    each([&](size_t at, int column, auto n) {
      const Vec x = (load(z + at) - mean) * rate[row];
      const Vec y = x * load<n>(scale + column) + load<n>(shift + column);
      store(out + at, x);
      store(z + at, select(y < 0.f, Vec{}, y));
    });
  }
}

// From the gradient by the normalised, scaled and shifted row to that by the row before.
template <class N, int capacity, int capacity_tape>
void through_norm(const float* e, float* d, const float* normal, const float* rate, const float* scale,
                  const int* rows, int first, int last) {
  constexpr float inverse = 1.f / N::total;
  for (int i = first; i < last; ++i) {
    const int row = rows ? rows[i] : i;
    const float *y = e + (size_t)i * panel, *x = normal + (size_t)row * panel;
    float* out = d + (size_t)i * panel;
    const auto each = [&](const auto& f) {
      each_panel<N>([&](int number, int start, auto width) {
        each_vector<width>([&](int j, auto n) {
          const size_t at = (size_t)number * capacity * panel + j, there = (size_t)number * capacity_tape * panel + j;
          f(at, keep<n>(load(y + at) * load<n>(scale + start + j)), keep<n>(load(x + there)));
        });
      });
    };
    Vec total{}, along{};
    each([&](size_t, Vec by, Vec n) { total += by, along += by * n; });
    const float mean = sum(total) * inverse, slope = sum(along) * inverse;
    each([&](size_t at, Vec by, Vec n) { store(out + at, (by - mean - n * slope) * rate[row]); });
  }
}

template <class S, int l, int R, class T>
void forward_layer(const Params<S>& w, bool target, T& tape, float* packed, int first, int last) {
  using L = Layout<S>;
  using In = typename L::template InputOf<l>;
  using Out = typename L::template Hidden<l>;
  const float* W = w.weight[l].of(target);
  if constexpr (S::by_output) pack_transposed<In::total, Out>(W, In::total, packed);
  else pack<In::total, Out>(W, Out::total, packed);
  float* h = tape.template hidden<l>();
  multiply<Out, In, T::capacity, R>(tape.template input<l>(), packed, first, last,
                                    WithBias<T::capacity, !S::normed>{h, w.bias[l].of(target)});
  if constexpr (S::normed)
    normalise<Out, T::capacity>(h, tape.template normalised<l>(), tape.rate + l * T::capacity,
                                w.scale[l].of(target), w.shift[l].of(target), first, last);
  if constexpr (l + 1 < S::depth) forward_layer<S, l + 1, R>(w, target, tape, packed, first, last);
}

// Rows [first, last) from the raw input to the last hidden layer.
template <class S, int R, class T>
void forward(const Params<S>& w, bool target, T& tape, float* packed, int first, int last) {
  using L = Layout<S>;
  if constexpr (S::wave != Wave::none) {
    constexpr size_t behind = (size_t)L::Basis::panels * T::capacity * panel;
    pack_transposed<S::in, typename L::Basis>(w.basis.of(target && S::trained), S::in, packed);
    multiply<typename L::Basis, typename L::Raw, T::capacity, R>(
        tape.raw(), packed, first, last, Embed<S::wave, T::capacity, behind>{tape.x});
  }
  forward_layer<S, 0, R>(w, target, tape, packed, first, last);
}

// ---------------------------------------------------------------------------------- backward

// From the gradient by layer l's ReLU down to the phases, rows [first, last); no weight moves.
template <class S, int l, int R, bool listed, bool phases, class T, class D>
void backward(const Params<S>& w, T& tape, D& slopes, float* packed, const int* rows, int first, int last) {
  using L = Layout<S>;
  using Out = typename L::template Hidden<l>;
  using In = typename L::template InputOf<l>;
  if constexpr (S::normed)
    through_norm<Out, D::capacity, T::capacity>(slopes.template by_relu<l>(), slopes.template by_sum<l>(),
                                                tape.template normalised<l>(), tape.rate + l * T::capacity,
                                                w.scale[l].value, rows, first, last);
  const auto pack_columns = [&](auto columns) {
    using N = decltype(columns);
    if constexpr (S::by_output) pack<Out::total, N>(w.weight[l].value, In::total, packed);
    else pack_transposed<Out::total, N>(w.weight[l].value, Out::total, packed);
  };
  if constexpr (l > 0) {
    pack_columns(In{});
    multiply<In, Out, D::capacity, R>(
        slopes.template by_sum<l>(), packed, first, last,
        ThroughRelu<D::capacity, T::capacity, listed>{slopes.template by_relu<l - 1>(), tape.template hidden<l - 1>(), rows});
    backward<S, l - 1, R, listed, phases>(w, tape, slopes, packed, rows, first, last);
  } else if constexpr (phases && S::wave != Wave::none) {
    pack_columns(typename L::Waves{});
    multiply<typename L::Waves, Out, D::capacity, R>(
        slopes.template by_sum<0>(), packed, first, last,
        ThroughWave<S::wave, D::capacity, T::capacity, L::Basis::panels, listed>{slopes.phase, tape.x, rows});
  }
}

// Column sums of `depth` rows, by Adam: the gradient of a bias.  With `times`, of the products.
template <class N, int depth, int capacity, int capacity_times, bool product, class E>
void step_columns(const float* d, const float* times, const E& adam) {
  each_panel<N>([&](int number, int start, auto width) {
    each_vector<width>([&](int i, auto n) {
      const float* a = d + (size_t)number * capacity * panel + i;
      const float* b = times + (size_t)number * capacity_times * panel + i;
      Vec total{};
      for (int k = 0; k < depth; ++k) {
        const Vec x = load(a + (size_t)k * panel);
        total += product ? x * load(b + (size_t)k * panel) : x;
      }
      adam.template step<n>(total, start + i);
    });
  });
}

// Share t of the steps of all parameters below the head, from `depth` rows.
template <class S, int l, int depth, class T, class D>
void step_layers(const Params<S>& w, T& tape, D& slopes, const Moves& moves, int t, int shares) {
  using L = Layout<S>;
  using In = typename L::template InputOf<l>;
  using Out = typename L::template Hidden<l>;
  using Rule = Adam<S::plain>;
  constexpr int ct = T::capacity, cd = D::capacity;
  float *d = slopes.template by_sum<l>(), *in = tape.template input<l>();
  if constexpr (S::by_output)
    multiply_transposed<Out, In, depth, cd, ct>(d, in, Rule{w.weight[l], In::total, moves}, t, shares);
  else
    multiply_transposed<In, Out, depth, ct, cd>(in, d, Rule{w.weight[l], Out::total, moves}, t, shares);
  if (t == 0) {
    step_columns<Out, depth, cd, 0, false>(d, d, Rule{w.bias[l], 0, moves});
    if constexpr (S::normed) {
      const float *e = slopes.template by_relu<l>(), *normal = tape.template normalised<l>();
      step_columns<Out, depth, cd, ct, true>(e, normal, Rule{w.scale[l], 0, moves});
      step_columns<Out, depth, cd, 0, false>(e, e, Rule{w.shift[l], 0, moves});
    }
  }
  if constexpr (l == 0 && S::wave != Wave::none && S::trained)
    multiply_transposed<typename L::Basis, typename L::Raw, depth, cd, ct>(slopes.phase, tape.raw(),
                                                                           Rule{w.basis, S::in, moves}, t, shares);
  if constexpr (l > 0) step_layers<S, l - 1, depth>(w, tape, slopes, moves, t, shares);
}

}  // namespace lff
