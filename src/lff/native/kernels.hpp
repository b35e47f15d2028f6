// Vectors of floats, elementary functions, and small matrix products of sizes known at compile time.
//
// One source for AVX-512, AVX2 and anything else that GCC has vectors for.  Matrices of activations
// are stored in panels: `panel` columns side by side, row after row, then the next panel.  A panel
// is at once what a product reads row by row (its left factor) and what it reads as the packed
// right factor of a weight gradient, so that activations are never packed again.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

namespace lff {

#if defined(__AVX512F__)
constexpr int lanes = 16, tallest = 12;  // 24 of 32 registers hold sums
#else
constexpr int lanes = 8, tallest = 6;  // 12 of 16
#endif
constexpr int panel = 2 * lanes;

typedef float Vec __attribute__((vector_size(4 * lanes), aligned(4), may_alias));
typedef int32_t Bits __attribute__((vector_size(4 * lanes), aligned(4), may_alias));

// ---------------------------------------------------------------------------------- vectors

INLINE Vec fill(float x) { return x - Vec{}; }
INLINE Vec select(Bits mask, Vec yes, Vec no) { return (Vec)(((Bits)yes & mask) | ((Bits)no & ~mask)); }
// The first n lanes, the rest 0.
template <int n>
INLINE Vec keep(Vec x) {
  if constexpr (n >= lanes) return x;
  Bits on;
  UNROLL for (int i = 0; i < lanes; ++i) on[i] = i < n ? -1 : 0;
  return (Vec)((Bits)x & on);
}
INLINE Vec magnitude(Vec x) { return (Vec)((Bits)x & 0x7fffffff); }

// The first n lanes, the rest 0.
template <int n>
INLINE Vec load(const float* p) {
  if constexpr (n >= lanes) return *(const Vec*)p;
#if defined(__AVX512F__)
  return (Vec)_mm512_maskz_loadu_ps((1u << n) - 1, p);
#elif defined(__AVX__)
  Bits on;
  UNROLL for (int i = 0; i < lanes; ++i) on[i] = i < n ? -1 : 0;
  return (Vec)_mm256_maskload_ps(p, (__m256i)on);
#else
  Vec v{};
  std::memcpy(&v, p, sizeof(float) * n);
  return v;
#endif
}

template <int n>
INLINE void store(float* p, Vec v) {
  if constexpr (n >= lanes) {
    *(Vec*)p = v;
    return;
  }
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, (1u << n) - 1, (__m512)v);
#elif defined(__AVX__)
  Bits on;
  UNROLL for (int i = 0; i < lanes; ++i) on[i] = i < n ? -1 : 0;
  _mm256_maskstore_ps(p, (__m256i)on, (__m256)v);
#else
  std::memcpy(p, &v, sizeof(float) * n);
#endif
}

INLINE Vec load(const float* p) { return load<lanes>(p); }
INLINE void store(float* p, Vec v) { store<lanes>(p, v); }

// The first n lanes, n known at run time.
INLINE Vec load_some(const float* p, int n) {
  if (n == lanes) return load(p);
  Vec v{};
  std::memcpy(&v, p, sizeof(float) * n);
  return v;
}
INLINE void store_some(float* p, Vec v, int n) {
  if (n == lanes) store(p, v);
  else std::memcpy(p, &v, sizeof(float) * n);
}

// The sum of all lanes, halves first: always in the same order.
INLINE float sum(Vec v) {
#if defined(__AVX__)
#if defined(__AVX512F__)
  const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd((__m512)v), 1));
  const __m256 eight = _mm512_castps512_ps256((__m512)v) + high;
#else
  const __m256 eight = (__m256)v;
#endif
  const __m128 four = _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
  const __m128 two = four + _mm_movehl_ps(four, four);
  return two[0] + two[1];
#else
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
#endif
}

// Calls f(first, integral_constant<valid lanes>) for each vector of n floats.
template <int n, class F>
INLINE void each_vector(const F& f) {
  for (int i = 0; i + lanes <= n; i += lanes) f(i, std::integral_constant<int, lanes>{});
  if constexpr (n % lanes != 0) f(n / lanes * lanes, std::integral_constant<int, n % lanes>{});
}

// ---------------------------------------------------------------------------------- functions

INLINE Vec root(Vec x) {
#if defined(__AVX512F__)
  return (Vec)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);  // the unmasked form warns in GCC 12
#elif defined(__AVX__)
  return (Vec)_mm256_sqrt_ps((__m256)x);
#else
  UNROLL for (int i = 0; i < lanes; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

INLINE Vec nearest(Vec x) {  // for |x| < 2^22
  const Vec shift = fill(12582912.f);
  return (x + shift) - shift;
}

INLINE Vec clamp(Vec x, float low, float high) {  // NaN stays
  x = select(x > high, fill(high), x);
  return select(x < low, fill(low), x);
}

// exp for arguments in [-87, 88], clamped beyond (Cephes' expf).
INLINE Vec exponential(Vec x) {
  x = clamp(x, -87.f, 88.f);
  const Vec n = nearest(x * 1.44269504088896341f);
  const Vec r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec p = 1.9875691500e-4f * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.f;
  const Vec whole = select(x == x, n, Vec{});  // NaN has no integer
  return p * (Vec)((__builtin_convertvector(whole, Bits) + 127) << 23);
}

// log(1 + x) for x in [0, 1]: 2 artanh(s), s = x / (2 + x) at most 1/3, by its series.
INLINE Vec log_one_plus(Vec x) {
  const Vec s = x / (x + 2.f), z = s * s;
  Vec p = fill(1.f / 13);
  UNROLL for (int odd = 11; odd > 1; odd -= 2) p = p * z + 1.f / odd;
  return 2.f * (s + s * (z * p));
}

INLINE Vec tangent(Vec x) {  // tanh
  const Vec size = magnitude(x), z = x * x;
  Vec p = -5.70498872745e-3f * z + 2.06390887954e-2f;
  p = p * z + -5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z + -3.33332819422e-1f;
  const Vec small = p * (z * x) + x;
  const Vec large = 1.f - 2.f / (exponential(size + size) + 1.f);
  const Vec signed_large = (Vec)((Bits)large | ((Bits)x & INT32_MIN));
  return select(size < 0.625f, small, signed_large);
}

// Phases up to here are reduced by multiples of pi/2 in three parts; the products with the first
// part are exact up to here if they are fused with the subtraction.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr float largest_phase = 1e6f;
constexpr float quarter[3] = {1.57079637050628662109375f, -4.37113900018624283e-8f, 1.71512451e-15f};
#else
constexpr float largest_phase = 1e4f;
constexpr float quarter[3] = {1.5703125f, 4.837512969970703125e-4f, 7.549789948768648e-8f};
#endif

inline __attribute__((noinline)) void sine_cosine_by_libm(const float* x, float* s, float* c) {
  for (int i = 0; i < lanes; ++i) {
    s[i] = std::sin(x[i]);
    c[i] = std::cos(x[i]);
  }
}

INLINE bool any(Bits mask) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#else
  int32_t found = 0;
  UNROLL for (int i = 0; i < lanes; ++i) found |= mask[i];
  return found != 0;
#endif
}

INLINE void sine_cosine(Vec x, Vec& s, Vec& c) {
  const Bits within = magnitude(x) <= largest_phase;
  if (__builtin_expect(any(~within), 0)) {  // too large, infinite or NaN
    float in[lanes], sines[lanes], cosines[lanes];
    store(in, x);
    sine_cosine_by_libm(in, sines, cosines);
    s = load(sines);
    c = load(cosines);
    return;
  }
  const Vec j = nearest(x * 0.63661977236758134f);
  const Bits q = __builtin_convertvector(j, Bits);
  const Vec r = ((x - j * quarter[0]) - j * quarter[1]) - j * quarter[2], z = r * r;
  Vec ps = -1.9515295891e-4f * z + 8.3321608736e-3f;
  ps = (ps * z + -1.6666654611e-1f) * (z * r) + r;
  Vec pc = 2.443315711809948e-5f * z + -1.388731625493765e-3f;
  pc = (pc * z + 4.166664568298827e-2f) * (z * z) + (1.f - 0.5f * z);
  const Bits odd = -(q & 1);
  s = (Vec)((Bits)select(odd, pc, ps) ^ ((q & 2) << 30));
  c = (Vec)((Bits)select(odd, ps, pc) ^ (((q + 1) & 2) << 30));
}

// ---------------------------------------------------------------------------------- panels

constexpr int panels_of(int n) { return (n + panel - 1) / panel; }
constexpr int pad(int n, int to) { return (n + to - 1) / to * to; }

// Columns of a matrix in panels.  Each section starts a panel of its own, so that a vector never
// holds columns of two sections; the last panel of a section may be partly used.
template <int... n>
struct Columns {
  static constexpr int total = (n + ... + 0), panels = (panels_of(n) + ... + 0);
  static constexpr int sections = sizeof...(n), size[] = {n...};
  static constexpr int first_panel(int section) {
    int at = 0;
    for (int s = 0; s < section; ++s) at += panels_of(size[s]);
    return at;
  }
};

// Calls f(number, first column, integral_constant<width>) for each panel.
template <class C, int section = 0, class F>
INLINE void each_panel(const F& f, int number = 0, int start = 0) {
  if constexpr (section < C::sections) {
    constexpr int n = C::size[section], rest = n % panel;
    for (int i = 0; i + panel <= n; i += panel)
      f(number++, start + i, std::integral_constant<int, panel>{});
    if constexpr (rest > 0) f(number++, start + n - rest, std::integral_constant<int, rest>{});
    each_panel<C, section + 1>(f, number, start + n);
  }
}

// Share t of `shares` of n things: [first, last), in multiples of `grain`.
INLINE void share(int n, int grain, int t, int shares, int& first, int& last) {
  const int grains = (n + grain - 1) / grain;
  first = grains * t / shares * grain;
  last = grains * (t + 1) / shares * grain;
  if (last > n) last = n;
}

// ---------------------------------------------------------------------------------- packing

// Right factors of products with weights: for each panel of N all K rows, `panel` floats each.

// From a matrix whose element (k, n) is at k * stride + n.
template <int K, class N>
inline void pack(const float* from, int stride, float* to) {
  each_panel<N>([&](int, int start, auto width) {
    const float* row = from + start;
    for (int k = 0; k < K; ++k, row += stride, to += panel)
      if constexpr (width == panel) {
        store(to, load(row));
        store(to + lanes, load(row + lanes));
      } else if constexpr (width > lanes) {
        store(to, load(row));
        store(to + lanes, load<width - lanes>(row + lanes));
      } else {
        store(to, load<width>(row));
      }
  });
}

// The same from a matrix whose element (k, n) is at n * stride + k.
template <int K, class N>
inline void pack_transposed(const float* from, int stride, float* to) {
  each_panel<N>([&](int, int start, auto width) {
    constexpr int side = 8;
    const float* column = from + (size_t)start * stride;
    if constexpr (width < panel) std::memset(to, 0, sizeof(float) * K * panel);
    int j = 0;
    for (; j + side <= width; j += side) {
      int k = 0;
      for (; k + side <= K; k += side) {
        float block[side][side];
        for (int a = 0; a < side; ++a)
          std::memcpy(block[a], column + (size_t)(j + a) * stride + k, sizeof block[a]);
        for (int b = 0; b < side; ++b)
          for (int a = 0; a < side; ++a) to[(size_t)(k + b) * panel + j + a] = block[a][b];
      }
      for (; k < K; ++k)
        for (int a = 0; a < side; ++a)
          to[(size_t)k * panel + j + a] = column[(size_t)(j + a) * stride + k];
    }
    for (; j < width; ++j)
      for (int k = 0; k < K; ++k) to[(size_t)k * panel + j] = column[(size_t)j * stride + k];
    to += (size_t)K * panel;
  });
}

// ---------------------------------------------------------------------------------- products

// The place of one vector of a product: its row, its panel, the vector in the panel, and the
// column of the whole matrix that it starts at.
struct Spot {
  int row, panel_number, vector, column;
};

template <int R, int width, class E>
INLINE void finish(const Vec (&sums)[R][2], int row, int panel_number, int start, const E& e) {
  UNROLL for (int r = 0; r < R; ++r) {
    e.template put<(width < lanes ? width : lanes)>(sums[r][0], Spot{row + r, panel_number, 0, start});
    if constexpr (width > lanes)
      e.template put<width - lanes>(sums[r][1], Spot{row + r, panel_number, 1, start + lanes});
  }
}

// R rows of A times one packed panel of B.  A is in panels of K with `capacity` rows.
template <int R, int width, class K, int capacity, class E>
INLINE void tile(const float* A, const float* B, int row, int panel_number, int start, const E& e) {
  constexpr int vectors = width > lanes ? 2 : 1;
  Vec sums[R][2] = {};
  const float* a = A + (size_t)row * panel;
  each_panel<K>([&](int, int, auto count) {
    for (int k = 0; k < count; ++k, B += panel) {
      Vec b[vectors];
      UNROLL for (int v = 0; v < vectors; ++v) b[v] = load(B + v * lanes);
      UNROLL for (int r = 0; r < R; ++r) {
        const Vec x = fill(a[(size_t)r * panel + k]);
        UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] += x * b[v];
      }
    }
    a += (size_t)capacity * panel;
  });
  finish<R, width>(sums, row, panel_number, start, e);
}

template <int R, int width, class K, int capacity, class E>
__attribute__((noinline)) void strip(const float* A, const float* B, int first, int last, int number,
                                     int start, const E& e) {
  for (int row = first; row < last; row += R)
    tile<R, width, K, capacity>(A, B, row, number, start, e);
}

// The height of a tile that wastes least on this many rows, if a tile costs its rows and a quarter
// of a row more.
constexpr int tile_height(int rows) {
  const auto cost = [&](int r) { return (rows + r - 1) / r * (4 * r + 1); };
  int best = tallest;
  for (int r = tallest; r >= 2 * tallest / 3; --r)
    if (cost(r) < cost(best)) best = r;
  return best;
}

// Rows [first, last) of A B; B is packed.  The last tile may run over: buffers of activations have
// `tallest` spare rows.
template <class N, class K, int capacity, int R, class E>
INLINE void multiply(const float* A, const float* B, int first, int last, const E& e) {
  each_panel<N>([&](int number, int start, auto width) {
    const float* factor = B + (size_t)number * K::total * panel;
    strip<R, width, K, capacity>(A, factor, first, last, number, start, e);
  });
}

// R columns of A, transposed, times one panel of B over `depth` rows: a piece of a weight gradient.
template <int R, int width, int depth, class E>
INLINE void gradient_tile(const float* A, const float* B, int row, int number, int start, const E& e) {
  constexpr int vectors = width > lanes ? 2 : 1;
  Vec sums[R][2] = {};
  e.template prepare<R, width>(row, start);
  for (int k = 0; k < depth; ++k, A += panel, B += panel) {
    Vec b[vectors];
    UNROLL for (int v = 0; v < vectors; ++v) b[v] = load(B + v * lanes);
    UNROLL for (int r = 0; r < R; ++r) {
      const Vec x = fill(A[r]);
      UNROLL for (int v = 0; v < vectors; ++v) sums[r][v] += x * b[v];
    }
  }
  finish<R, width>(sums, row, number, start, e);
}

// All rows of the gradient that one panel of A gives, in tiles of nearly equal height.
template <int rows, int width, int depth, class E>
__attribute__((noinline)) void gradient_strip(const float* A, const float* B, int row, int number,
                                              int start, const E& e) {
  constexpr int tiles = (rows + tallest - 1) / tallest, high = (rows + tiles - 1) / tiles;
  constexpr int low = high - 1, many = rows - tiles * low;
  for (int i = 0; i < many; ++i)
    gradient_tile<high, width, depth>(A + i * high, B, row + i * high, number, start, e);
  if constexpr (many < tiles && low > 0)
    for (int i = 0; i < tiles - many; ++i) {
      const int at = many * high + i * low;
      gradient_tile<low, width, depth>(A + at, B, row + at, number, start, e);
    }
}

// Share t of A' B, both activations in panels with `depth` rows used: the gradient of a weight.
template <class M, class N, int depth, int capacityA, int capacityB, class E>
INLINE void multiply_transposed(const float* A, const float* B, const E& e, int t, int shares) {
  int piece = 0;
  each_panel<N>([&](int n, int column, auto width) {
    each_panel<M>([&](int m, int row, auto rows) {
      if (piece++ % shares == t)
        gradient_strip<rows, width, depth>(A + (size_t)m * capacityA * panel,
                                           B + (size_t)n * capacityB * panel, row, n, column, e);
    });
  });
}

}  // namespace lff
