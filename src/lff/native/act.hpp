// Acting: the actor on one observation, or on the rows of a batch, from its weights as they lie.
//
// A row's result does not depend on how many rows come with it: the sums of four rows at once, which
// read each weight once, are made in the order of a single one.
#pragma once

#include "network.hpp"

namespace lff {

// For each output o of `outs`: bias[o] + sum_k weight[o, k] x[r, k], for R rows.
template <int R, int K, int stride, class F>
INLINE void dots(const float* weight, const float* const* x, int outs, const F& put) {
  for (int o = 0; o < outs; ++o, weight += stride) {
    Vec sums[R] = {};
    each_vector<K>([&](int k, auto n) {
      const Vec w = load<n>(weight + k);
      UNROLL for (int r = 0; r < R; ++r) sums[r] += w * load<n>(x[r] + k);
    });
    UNROLL for (int r = 0; r < R; ++r) put(r, o, sum(sums[r]));
  }
}

template <int l, class S, int R, class F>
void act_layer(const Params<S>& w, const float* const* x, const F& head) {
  using L = Layout<S>;
  constexpr int in = L::template InputOf<l>::total, out = S::hidden[l];
  alignas(64) float h[R][pad(out, panel)];
  const float* rows[R];
  dots<R, in, in>(w.weight[l].value, x, out, [&](int r, int o, float z) {
    z += w.bias[l].value[o];
    h[r][o] = S::normed || S::tangents || !(z < 0.f) ? z : 0.f;
  });
  for (int r = 0; r < R; ++r) {
    rows[r] = h[r];
    if constexpr (S::normed) {
      float total = 0, squares = 0;
      for (int o = 0; o < out; ++o) total += h[r][o];
      const float mean = total / out;
      for (int o = 0; o < out; ++o) squares += (h[r][o] - mean) * (h[r][o] - mean);
      const float rate = 1.f / std::sqrt(squares / out + 1e-5f);
      for (int o = 0; o < out; ++o) {
        const float y = (h[r][o] - mean) * rate * w.scale[l].value[o] + w.shift[l].value[o];
        h[r][o] = !S::tangents && y < 0.f ? 0.f : y;
      }
    }
    if constexpr (S::tangents)
      each_vector<out>([&](int o, auto n) { store<n>(h[r] + o, tangent(load<n>(h[r] + o))); });
  }
  if constexpr (l + 1 < S::depth) act_layer<l + 1, S, R>(w, rows, head);
  else
    dots<R, out, out>(w.weight[S::depth].value, rows, L::Output::total, [&](int r, int o, float z) {
      head(r, o, z + w.bias[S::depth].value[o]);
    });
}

// The outputs of R rows of raw input, each `S::in` long: head(r, o, value).
template <class S, int R, class F>
void act_rows(const Params<S>& w, const float* const* raw, const F& head) {
  static_assert(S::by_output);
  using L = Layout<S>;
  if constexpr (L::rows + S::ones == 0) {
    act_layer<0, S, R>(w, raw, head);
    return;
  }
  constexpr int front = L::rows + L::cosines + S::ones;
  alignas(64) float x[R][pad(front + S::in, panel) + 2 * panel];
  const float* rows[R];
  if constexpr (S::wave != Wave::none) {
    alignas(64) float phase[R][pad(L::rows, panel)];
    dots<R, S::in, S::in>(w.basis.value, raw, L::rows,
                          [&](int r, int o, float z) { phase[r][o] = z * two_pi; });
    for (int r = 0; r < R; ++r)
      each_vector<L::rows>([&](int i, auto n) {
        const Vec p = load<n>(phase[r] + i);
        if constexpr (S::wave == Wave::sine) {
          Vec sine, cosine;
          sine_cosine(p, sine, cosine);
          store<n>(x[r] + i, sine);
          store<n>(x[r] + L::rows + i, cosine);
        } else {
          store<n>(x[r] + i, S::wave == Wave::tangent ? tangent(p) : p);
        }
      });
  }
  for (int r = 0; r < R; ++r) {
    for (int i = 0; i < S::ones; ++i) x[r][front - S::ones + i] = 1.f;
    std::memcpy(x[r] + front, raw[r], sizeof(float) * S::in);
    rows[r] = x[r];
  }
  act_layer<0, S, R>(w, rows, head);
}

}  // namespace lff
