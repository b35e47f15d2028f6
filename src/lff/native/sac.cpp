// One update of soft actor-critic on the agent's own tensors, and acting with them.
//
//   y    = r + gamma (1 - terminated) (min_i Q'_i(s', a') - alpha log pi(a'|s')) + noise
//   L_Q  = sum_i mean (Q_i(s, a) - y)^2
//   L_pi = mean (alpha log pi(a|s) - min_i Q_i(s, a))
//
// The order is that of lff.algos.sac: critics, actor, temperature, target.  Three things are done
// at once that have the same result: the policy on s and s', each parameter's Adam step and its
// target's, and of the critics in the actor's step each row goes back through the smallest alone.
//
// "shape.hpp" is written for each combination of sizes (lff/native/shape.py); it defines
// Actor, Critic, observations, actions, batch, members, threads, normalises, has_target, learns_alpha.
#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "act.hpp"
#include "network.hpp"
#include "shape.hpp"
#include "team.hpp"

namespace lff {

constexpr int capacity = batch + tallest, both = 2 * batch + tallest;  // rows of s; of s and s'
constexpr int parts = threads;
using ActorTape = Tape<Actor, both>;
using ActorSlopes = Slopes<Actor, capacity>;
using CriticTape = Tape<Critic, capacity>;
using CriticSlopes = Slopes<Critic, capacity>;
using Heads = Columns<2 * actions>;  // means, then logs of spreads before their squashing
using LastActor = Columns<Actor::hidden[Actor::depth - 1]>;
using LastCritic = Columns<Critic::hidden[Critic::depth - 1]>;

struct Counter {  // of Adam's steps, and the bias corrections of the next one
  float* factors;
  int64_t* count;
  void advance(double beta1) {
    const double next = double(++*count) + 1, root = std::sqrt(1 - std::pow(0.999, next));
    factors[0] = float(root / (1 - std::pow(beta1, next)));
    factors[1] = float(1e-8 * root);
  }
};

struct Numbers {  // in the order of NUMBERS in lff/native/binding.py
  double gamma, tau, period, log_std_min, target_entropy, target_noise, alpha_lr, alpha_beta1;
};

struct Replay {
  const float *obs, *action, *reward, *next_obs;
  const uint8_t* terminated;
  int64_t rows;
};

struct Noise {  // of the actions at s, at s', and of the targets
  const float *action, *next_action, *target;
};

constexpr int packed_floats() {
  const int a = Layout<Actor>::packed_floats(), c = Layout<Critic>::packed_floats();
  return (a > c ? a : c) + panel;
}

struct Agent {
  Params<Actor> actor;
  Params<Critic> critics, critic[members];
  Counter actor_steps, critic_steps, alpha_steps;
  float *log_alpha, *alpha_first, *alpha_second, *share, *shift, *scale;
  Numbers numbers;

  ActorTape policy;
  ActorSlopes policy_slopes;
  CriticTape values[members], next_values[parts];
  CriticSlopes value_slopes[parts];
  alignas(64) float packed[parts][packed_floats()];
  alignas(64) float head[(size_t)Heads::panels * both * panel], head_slopes[(size_t)Heads::panels * capacity * panel];
  // row after row without gaps, so that vectors are full whatever the number of actions
  alignas(64) float raw[2 * batch * actions], mean[2 * batch * actions], action[2 * batch * actions];
  alignas(64) float tangents[batch * actions], spread[batch * actions], action_slopes[members][batch * actions];
  alignas(64) float by_action[parts][(size_t)panels_of(actions) * capacity * panel];
  float log_prob[2 * batch], q[members][capacity], next_q[members][capacity], target_q[batch];
  float by_q[members][batch];
  int rows[members][capacity], count[members];
  Team<parts> team;
};

// ---------------------------------------------------------------------------------- policy

void read_obs(const Agent& a, const float* from, float* to) {
  each_vector<observations>([&](int i, auto n) {
    Vec x = load<n>(from + i);
    if constexpr (normalises)
      x = clamp((x - load<n>(a.shift + i)) * load<n>(a.scale + i), -10.f, 10.f);
    store<n>(to + i, x);
  });
}

// Element (row, column) of a matrix in panels.
INLINE size_t element(int row, int column, int rows) {
  return ((size_t)(column / panel) * rows + row) * panel + column % panel;
}

// Calls f(first, count) for each vector of [first, last); the last one may be partly used.
template <class F>
INLINE void each_piece(int first, int last, const F& f) {
  for (; first < last; first += lanes) f(first, last - first < lanes ? last - first : lanes);
}

// log(spread) = low + half (tanh + 1), in [log_std_min, 2].
struct Squash {
  float low, half;
  explicit Squash(const Agent& a)
      : low((float)a.numbers.log_std_min), half((float)(0.5 * (2 - a.numbers.log_std_min))) {}
};

// Actions tanh(mean + spread noise) of rows [first, last), all of s or all of s', and their
// log-probabilities.
void sample(Agent& a, const float* noise, bool now, int first, int last) {
  const Squash squash(a);
  for (int row = first; row < last; ++row)
    for (int j = 0; j < actions; ++j) {
      a.mean[row * actions + j] = a.head[element(row, j, both)];
      a.raw[row * actions + j] = a.head[element(row, actions + j, both)];
    }
  each_piece(first * actions, last * actions, [&](int i, int n) {
    const Vec t = tangent(load_some(a.raw + i, n)), e = load_some(noise + i - first * actions, n);
    const Vec log_std = squash.low + squash.half * (t + 1.f), std = exponential(log_std);
    const Vec u = load_some(a.mean + i, n) + std * e;
    const Vec softplus = select(u < 0.f, -2.f * u, Vec{}) + log_one_plus(exponential(-2.f * magnitude(u)));
    const Vec normal = -0.5f * (e * e) - log_std - 0.91893853320467274f;
    store_some(a.raw + i, normal - 2.f * (0.69314718055994531f - u - softplus), n);
    store_some(a.action + i, tangent(u), n);
    if (now) {
      store_some(a.tangents + i, t, n);
      store_some(a.spread + i, std, n);
    }
  });
  for (int row = first; row < last; ++row) {
    a.log_prob[row] = 0;
    for (int j = 0; j < actions; ++j) a.log_prob[row] += a.raw[row * actions + j];
  }
}

void forward_policy(Agent& a, const Replay& replay, const int64_t* index, const Noise& noise, bool actor, int t) {
  constexpr int R = tile_height(2 * batch / parts);
  const int start = actor ? 0 : batch;
  int first, last;
  share(2 * batch - start, R, t, parts, first, last);
  first += start, last += start;
  float obs[pad(observations, panel)], *packed = a.packed[t];
  for (int row = first; row < last; ++row) {
    const float* from = row < batch ? replay.obs + index[row] * observations
                                    : replay.next_obs + index[row - batch] * observations;
    read_obs(a, from, obs);
    a.policy.write(row, 0, obs, observations);
  }
  forward<Actor, R>(a.actor, false, a.policy, packed, first, last);
  pack_transposed<LastActor::total, Heads>(a.actor.weight[Actor::depth].value, LastActor::total, packed);
  multiply<Heads, LastActor, both, R>(a.policy.hidden<Actor::depth - 1>(), packed, first, last,
                                      WithBias<both, false>{a.head, a.actor.bias[Actor::depth].value});
  const int middle = first > batch ? first : last < batch ? last : batch;
  if (first < middle) sample(a, noise.action + (size_t)first * actions, true, first, middle);
  if (middle < last) sample(a, noise.next_action + (size_t)(middle - batch) * actions, false, middle, last);
}

// ---------------------------------------------------------------------------------- critics

constexpr int critic_rows = tile_height(batch);

void forward_critic(const Params<Critic>& w, bool target, CriticTape& tape, float* packed, float* q) {
  forward<Critic, critic_rows>(w, target, tape, packed, 0, batch);
  const float *h = tape.hidden<Critic::depth - 1>(), *W = w.weight[Critic::depth].of(target);
  const float bias = *w.bias[Critic::depth].of(target);
  for (int row = 0; row < batch; ++row) {
    Vec total{};
    each_panel<LastCritic>([&](int number, int start, auto width) {
      const float* p = h + ((size_t)number * capacity + row) * panel;
      each_vector<width>([&](int i, auto n) { total += keep<n>(load(p + i)) * load<n>(W + start + i); });
    });
    q[row] = sum(total) + bias;
  }
}

// Q'(s', a') of the target and Q(s, a), for one critic.
void evaluate(Agent& a, const Replay& replay, const int64_t* index, int m, int t) {
  CriticTape &now = a.values[m], &next = a.next_values[t];
  float obs[pad(observations, panel)];
  for (int row = 0; row < batch; ++row) {
    read_obs(a, replay.next_obs + index[row] * observations, obs);
    next.write(row, 0, obs, observations);
    next.write(row, observations, a.action + (size_t)(batch + row) * actions, actions);
    read_obs(a, replay.obs + index[row] * observations, obs);
    now.write(row, 0, obs, observations);
    now.write(row, observations, replay.action + index[row] * actions, actions);
  }
  forward_critic(a.critic[m], has_target, next, a.packed[t], a.next_q[m]);
  forward_critic(a.critic[m], false, now, a.packed[t], a.q[m]);
}

// The smallest of the critics' values of a row, NaN if one is NaN, as torch's amin.
float smallest(const float (&q)[members][capacity], int row) {
  float least = q[0][row];
  for (int m = 1; m < members; ++m)
    if (q[m][row] < least || q[m][row] != q[m][row]) least = least == least ? q[m][row] : least;
  return least;
}

// Gradient by the last hidden layer's ReLU, for rows of a list or all of the batch.
template <bool listed>
void through_critic_head(const Params<Critic>& w, CriticTape& tape, CriticSlopes& slopes, const float* by_q,
                         const int* rows, int count) {
  const float *h = tape.hidden<Critic::depth - 1>(), *W = w.weight[Critic::depth].value;
  float* d = slopes.by_relu<Critic::depth - 1>();
  each_panel<LastCritic>([&](int number, int start, auto width) {
    each_vector<width>([&](int i, auto n) {
      const Vec weight = load<n>(W + start + i);
      for (int r = 0; r < count; ++r) {
        const int row = listed ? rows[r] : r;
        const size_t at = (size_t)number * capacity * panel + i;
        const Vec g = by_q[row] * weight;
        store(d + at + (size_t)r * panel, select(load(h + at + (size_t)row * panel) <= 0.f, Vec{}, g));
      }
    });
  });
}

void step_critic(Agent& a, int m, int t) {
  using Rule = Adam<Critic::plain>;
  const Params<Critic>& w = a.critic[m];
  CriticTape& tape = a.values[m];
  CriticSlopes& slopes = a.value_slopes[t];
  const Moves moves{a.critic_steps.factors[0], a.critic_steps.factors[1], has_target ? *a.share : 0.f};
  float* by_q = a.by_q[m];
  float total = 0;
  for (int row = 0; row < batch; ++row) {
    by_q[row] = 2.f / batch * (a.q[m][row] - a.target_q[row]);
    total += by_q[row];
  }
  constexpr int top = Critic::depth - 1;
  through_critic_head<false>(w, tape, slopes, by_q, nullptr, batch);
  backward<Critic, top, critic_rows, false, Critic::trained>(w, tape, slopes, a.packed[t], nullptr, 0, batch);
  const float* h = tape.hidden<top>();
  const Rule weight{w.weight[Critic::depth], 0, moves}, bias{w.bias[Critic::depth], 0, moves};
  each_panel<LastCritic>([&](int number, int start, auto width) {
    each_vector<width>([&](int i, auto n) {
      Vec slope{};
      for (int row = 0; row < batch; ++row)
        slope += by_q[row] * load(h + ((size_t)number * capacity + row) * panel + i);
      weight.step<n>(slope, start + i);
    });
  });
  bias.step<1>(fill(total), 0);
  step_layers<Critic, top, batch>(w, tape, slopes, moves, 0, 1);
}

// Q(s, pi(s)) of one critic; s is where `evaluate` left it.
void evaluate_policy(Agent& a, int m, int t) {
  for (int row = 0; row < batch; ++row)
    a.values[m].write(row, observations, a.action + (size_t)row * actions, actions);
  forward_critic(a.critic[m], false, a.values[m], a.packed[t], a.q[m]);
}

// ---------------------------------------------------------------------------------- actor

// Which critic each row goes back through: the smallest; all of those that share the smallest
// value, each with its part.
void choose_critics(Agent& a) {
  std::memset(a.count, 0, sizeof a.count);
  std::memset(a.action_slopes, 0, sizeof a.action_slopes);
  for (int row = 0; row < batch; ++row) {
    const float least = smallest(a.q, row);
    int equal = 0;
    for (int m = 0; m < members; ++m) equal += a.q[m][row] == least;
    for (int m = 0; m < members; ++m)
      if (a.q[m][row] == least) {
        a.by_q[m][row] = -1.f / batch / equal;
        a.rows[m][a.count[m]++] = row;
      }
    if (equal == 0)  // NaN
      for (int j = 0; j < actions; ++j) a.action_slopes[0][row * actions + j] = least;
  }
}

// Gradient of -Q by the action, for a piece of critic m's list.
void through_critic(Agent& a, int m, const int* rows, int count, int t) {
  using L = Layout<Critic>;
  using First = Columns<Critic::hidden[0]>;
  using Actions = Columns<actions>;
  constexpr int R = tile_height(batch / 2);
  const Params<Critic>& w = a.critic[m];
  CriticTape& tape = a.values[m];
  CriticSlopes& slopes = a.value_slopes[t];
  float *packed = a.packed[t], *out = a.by_action[t];
  through_critic_head<true>(w, tape, slopes, a.by_q[m], rows, count);
  backward<Critic, Critic::depth - 1, R, true, true>(w, tape, slopes, packed, rows, 0, count);
  if constexpr (Critic::concat) {
    const int start = L::rows + L::cosines + Critic::ones + observations;
    const float* W = w.weight[0].value + (size_t)start * First::total;
    pack_transposed<First::total, Actions>(W, First::total, packed);
    multiply<Actions, First, capacity, R>(slopes.by_sum<0>(), packed, 0, count, Put<capacity, false>{out});
  }
  if constexpr (Critic::wave != Wave::none) {
    pack<L::rows, Actions>(w.basis.value + observations, Critic::in, packed);
    multiply<Actions, typename L::Basis, capacity, R>(slopes.phase, packed, 0, count,
                                                      Put<capacity, Critic::concat>{out});
  }
  for (int r = 0; r < count; ++r)
    for (int j = 0; j < actions; ++j)
      a.action_slopes[m][(size_t)rows[r] * actions + j] = out[element(r, j, capacity)];
}

// Part t of all lists, one behind the other.
void through_critics(Agent& a, int t) {
  int all = 0, first, last, start = 0;
  for (int m = 0; m < members; ++m) all += a.count[m];
  share(all, 1, t, parts, first, last);
  for (int m = 0; m < members; start += a.count[m++]) {
    const int from = first > start ? first - start : 0;
    const int to = last - start < a.count[m] ? last - start : a.count[m];
    if (from >= to) continue;
    // rows that a last tile runs over are read, and then not used: they must exist
    int rows[capacity + tallest] = {};
    std::memcpy(rows, a.rows[m] + from, sizeof(int) * (to - from));
    through_critic(a, m, rows, to - from, t);
  }
}

// From the gradient by the action to those by the actor's layers, part t of the rows.
void through_policy(Agent& a, const Noise& noise, float alpha, int t) {
  constexpr int R = tile_height((batch + parts - 1) / parts), top = Actor::depth - 1;
  const Squash squash(a);
  const float by_log_prob = alpha / batch;
  int first, last;
  share(batch, R, t, parts, first, last);
  each_piece(first * actions, last * actions, [&](int i, int n) {
    const Vec action = load_some(a.action + i, n), tan = load_some(a.tangents + i, n);
    Vec by_action = load_some(a.action_slopes[0] + i, n);
    for (int m = 1; m < members; ++m) by_action += load_some(a.action_slopes[m] + i, n);
    const Vec by_u = by_action * (1.f - action * action) + 2.f * by_log_prob * action;
    const Vec by_log_std = by_u * load_some(a.spread + i, n) * load_some(noise.action + i, n) - by_log_prob;
    store_some(a.mean + i, by_u, n);
    store_some(a.raw + i, by_log_std * squash.half * (1.f - tan * tan), n);
  });
  for (int row = first; row < last; ++row)
    for (int j = 0; j < actions; ++j) {
      a.head_slopes[element(row, j, capacity)] = a.mean[row * actions + j];
      a.head_slopes[element(row, actions + j, capacity)] = a.raw[row * actions + j];
    }
  float* packed = a.packed[t];
  pack<Heads::total, LastActor>(a.actor.weight[Actor::depth].value, LastActor::total, packed);
  multiply<LastActor, Heads, capacity, R>(
      a.head_slopes, packed, first, last,
      ThroughRelu<capacity, both, false>{a.policy_slopes.by_relu<top>(), a.policy.hidden<top>(), nullptr});
  backward<Actor, top, R, false, Actor::trained>(a.actor, a.policy, a.policy_slopes, packed, nullptr, first, last);
}

void step_actor(Agent& a, int t) {
  using Rule = Adam<Actor::plain>;
  constexpr int top = Actor::depth - 1;
  const Moves moves{a.actor_steps.factors[0], a.actor_steps.factors[1], 0.f};
  multiply_transposed<Heads, LastActor, batch, capacity, both>(
      a.head_slopes, a.policy.hidden<top>(), Rule{a.actor.weight[Actor::depth], LastActor::total, moves}, t, parts);
  if (t == 0)
    step_columns<Heads, batch, capacity, 0, false>(a.head_slopes, a.head_slopes, Rule{a.actor.bias[Actor::depth], 0, moves});
  step_layers<Actor, top, batch>(a.actor, a.policy, a.policy_slopes, moves, t, parts);
}

void step_alpha(Agent& a, float alpha, double mean_log_prob) {
  const float beta = (float)a.numbers.alpha_beta1, g = alpha * (float)(-mean_log_prob - a.numbers.target_entropy);
  float &m = *a.alpha_first, &v = *a.alpha_second;
  m = 1 - beta < 0.5f ? m + (1 - beta) * (g - m) : g - (g - m) * beta;
  v = v * 0.999f + 0.001f * g * g;
  *a.log_alpha -= (float)a.numbers.alpha_lr * a.alpha_steps.factors[0] * m / (std::sqrt(v) + a.alpha_steps.factors[1]);
  a.alpha_steps.advance(a.numbers.alpha_beta1);
}

// ---------------------------------------------------------------------------------- update

enum Metric { critic_loss, temperature, q_mean, q_max, target_q_mean, actor_loss, entropy, metrics };

void make_targets(Agent& a, const Replay& replay, const int64_t* index, const Noise& noise, float alpha, float* out) {
  double targets = 0, values = 0, errors = 0;
  float largest = 0;
  for (int row = 0; row < batch; ++row) {
    const float next = smallest(a.next_q, row) - alpha * a.log_prob[batch + row];
    const float gamma = replay.terminated[index[row]] ? 0.f : (float)a.numbers.gamma;
    float y = replay.reward[index[row]] + gamma * next;
    if (a.numbers.target_noise != 0) y += (float)a.numbers.target_noise * noise.target[row];
    a.target_q[row] = y;
    targets += y;
    for (int m = 0; m < members; ++m) {
      const float q = a.q[m][row], error = q - y, size = std::fabs(q);
      values += q, errors += (double)error * error;
      if (!(size <= largest) && largest == largest) largest = size;  // NaN stays
    }
  }
  out[critic_loss] = (float)(errors / batch);
  out[temperature] = alpha;
  out[q_mean] = (float)(values / batch / members);
  out[q_max] = largest;
  out[target_q_mean] = (float)(targets / batch);
}

void update(Agent& a, const Replay& replay, const int64_t* index, const Noise& noise, bool actor, float* out) {
  const float alpha = std::exp(*a.log_alpha);
  const auto each_critic = [](int t, const auto& f) {
    for (int m = t; m < members; m += parts) f(m);
  };
  a.team.run([&](int t) { forward_policy(a, replay, index, noise, actor, t); });
  a.team.run([&](int t) { each_critic(t, [&](int m) { evaluate(a, replay, index, m, t); }); });
  make_targets(a, replay, index, noise, alpha, out);
  a.team.run([&](int t) {
    each_critic(t, [&](int m) {
      step_critic(a, m, t);
      if (actor) evaluate_policy(a, m, t);
    });
  });
  a.critic_steps.advance(0.9);
  if constexpr (has_target)
    *a.share = (*a.critic_steps.count + 1) % (int64_t)a.numbers.period == 0 ? (float)a.numbers.tau : 0.f;
  if (!actor) return;
  choose_critics(a);
  double loss = 0, log_prob = 0;
  for (int row = 0; row < batch; ++row) {
    loss += alpha * a.log_prob[row] - smallest(a.q, row);
    log_prob += a.log_prob[row];
  }
  a.team.run([&](int t) { through_critics(a, t); });
  a.team.run([&](int t) { through_policy(a, noise, alpha, t); });
  a.team.run([&](int t) { step_actor(a, t); });
  a.actor_steps.advance(0.9);
  if constexpr (learns_alpha) step_alpha(a, alpha, log_prob / batch);
  out[actor_loss] = (float)(loss / batch);
  out[entropy] = (float)(-log_prob / batch);
}

// ---------------------------------------------------------------------------------- acting

template <int R>
void act_some(const Agent& a, const float* obs, const float* noise, float* out) {
  const Squash squash(a);
  alignas(64) float x[R][pad(observations, panel)], head[R][2][pad(actions, panel)] = {};
  const float* rows[R];
  for (int r = 0; r < R; ++r) {
    read_obs(a, obs + (size_t)r * observations, x[r]);
    rows[r] = x[r];
  }
  act_rows<Actor, R>(a.actor, rows, [&](int r, int o, float v) { head[r][o >= actions][o % actions] = v; });
  for (int r = 0; r < R; ++r)
    each_vector<actions>([&](int j, auto n) {
      Vec u = load(head[r][0] + j);
      if (noise) {
        const Vec t = tangent(load(head[r][1] + j));
        u = u + exponential(squash.low + squash.half * (t + 1.f)) * load<n>(noise + (size_t)r * actions + j);
      }
      store<n>(out + (size_t)r * actions + j, tangent(u));
    });
}

}  // namespace lff

// ---------------------------------------------------------------------------------- for ctypes

#define EXPORT __attribute__((visibility("default")))

extern "C" {

// Takes the agent's memory: for each parameter five pointers and five numbers (network.hpp, Slot),
// then the pointers and numbers below.  Returns null if there is no memory.
EXPORT void* lff_new(void** pointers, const double* numbers) {
  using namespace lff;
  const size_t huge = 1 << 21, size = (sizeof(Agent) + huge - 1) / huge * huge;
  void* memory = std::aligned_alloc(huge, size);
  if (!memory) return nullptr;
#if defined(MADV_HUGEPAGE)
  madvise(memory, size, MADV_HUGEPAGE);  // fewer misses of the address translation
#endif
  Agent* a = new (memory) Agent();  // all zero
  const auto read = [&](Slot& slot, int) {
    for (float** p : {&slot.value, &slot.first, &slot.second, &slot.start, &slot.target})
      *p = static_cast<float*>(*pointers++);
    for (float* n : {&slot.lr, &slot.l2, &slot.l1, &slot.anchor, &slot.decoupled}) *n = (float)*numbers++;
  };
  a->actor.each(read);
  a->critics.each(read);
  for (Counter* c : {&a->actor_steps, &a->critic_steps, &a->alpha_steps}) {
    c->factors = static_cast<float*>(*pointers++);
    c->count = static_cast<int64_t*>(*pointers++);
  }
  for (float** p : {&a->log_alpha, &a->alpha_first, &a->alpha_second, &a->share, &a->shift, &a->scale})
    *p = static_cast<float*>(*pointers++);
  std::memcpy(&a->numbers, numbers, sizeof a->numbers);
  for (int m = 0; m < members; ++m) {
    a->critic[m] = a->critics.member(m);
    a->values[m].set_ones();
  }
  for (auto& tape : a->next_values) tape.set_ones();
  a->policy.set_ones();
  return a;
}

EXPORT void lff_free(void* agent) {
  static_cast<lff::Agent*>(agent)->~Agent();
  std::free(agent);
}

// How many pointers and numbers `lff_new` reads.
EXPORT void lff_expects(int* counts) {
  int slots = 0;
  lff::Params<lff::Actor>{}.each([&](lff::Slot&, int) { ++slots; });
  lff::Params<lff::Critic>{}.each([&](lff::Slot&, int) { ++slots; });
  counts[0] = 5 * slots + 12;
  counts[1] = 5 * slots + int(sizeof(lff::Numbers) / sizeof(double));
}

// Returns 1, and does nothing, if an index is not a row of the replay.
EXPORT int lff_update(void* agent, const lff::Replay* replay, const int64_t* index, const lff::Noise* noise, int actor,
               float* out) {
  for (int i = 0; i < lff::batch; ++i)
    if (index[i] < 0 || index[i] >= replay->rows) return 1;
  lff::update(*static_cast<lff::Agent*>(agent), *replay, index, *noise, actor != 0, out);
  return 0;
}

// Actions of `rows` observations; without noise the mean.
EXPORT void lff_act(const void* agent, const float* obs, const float* noise, float* out, int rows) {
  const auto& a = *static_cast<const lff::Agent*>(agent);
  const auto at = [&](int row) { return noise ? noise + (size_t)row * lff::actions : nullptr; };
  int row = 0;
  for (; row + 4 <= rows; row += 4)
    lff::act_some<4>(a, obs + (size_t)row * lff::observations, at(row), out + (size_t)row * lff::actions);
  for (; row < rows; ++row)
    lff::act_some<1>(a, obs + (size_t)row * lff::observations, at(row), out + (size_t)row * lff::actions);
}

// For tests: sine, cosine, tanh and exp of n numbers, n a multiple of 16.
EXPORT void lff_functions(const float* x, float* sine, float* cosine, float* tangent, float* exponential, int n) {
  using namespace lff;
  for (int i = 0; i < n; i += lanes) {
    Vec s, c;
    sine_cosine(load(x + i), s, c);
    store(sine + i, s);
    store(cosine + i, c);
    store(tangent + i, lff::tangent(load(x + i)));
    store(exponential + i, lff::exponential(load(x + i)));
  }
}
}
