// The native update without Python: random weights and transitions, some updates, some actions.
//
//   driver [updates]        prints the metrics of each update, then sums over the weights
//
// For sanitizers, and for processors that are only emulated: numbers are drawn by a generator of
// its own, so that two builds that are right print the same to rounding.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sac.cpp"

namespace {

struct Random {
  uint64_t state = 1;
  float uniform() {  // in (-1, 1)
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(state >> 32) / 2147483648.f;
  }
  std::vector<float> many(size_t n, float scale) {
    std::vector<float> values(n);
    for (float& value : values) value = scale * uniform();
    return values;
  }
};

double sum_of(const std::vector<float>& values) {
  double total = 0;
  for (float value : values) total += value;
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lff;
  const int updates = argc > 1 ? std::atoi(argv[1]) : 3, rows = 3 * batch + 7;
  Random random;
  // exactly as long as the tensors are: a sanitizer sees what reads or writes behind them
  std::vector<std::vector<float>> tensors;
  std::vector<void*> pointers;
  std::vector<double> numbers;
  tensors.reserve(1000);
  const auto add = [&](size_t n, float scale) {
    tensors.push_back(random.many(n, scale));
    pointers.push_back(tensors.back().data());
  };
  const auto add_slot = [&](int copies) {
    return [&, copies](Slot&, int size) {
      const size_t n = (size_t)copies * size, weights = tensors.size();
      add(n, 0.2f);
      for (int i = 0; i < 2; ++i) add(n, 0.f);
      for (int i = 0; i < 2; ++i) {  // start and target begin as the value
        add(n, 0.f);
        std::memcpy(tensors.back().data(), tensors[weights].data(), sizeof(float) * n);
      }
      for (double number : {3e-4, 1e-3, 1e-3, 1e-2, 0.}) numbers.push_back(number);
    };
  };
  Params<Actor>{}.each(add_slot(1));
  Params<Critic>{}.each(add_slot(members));
  const size_t weights = tensors.size();
  int64_t counts[3] = {};
  for (int64_t& count : counts) {
    add(2, 0.f);
    tensors.back() = {std::sqrt(0.001f) / 0.1f, 1e-8f * std::sqrt(0.001f)};
    pointers.back() = tensors.back().data();
    pointers.push_back(&count);
  }
  for (int i = 0; i < 4; ++i) add(1, 0.f);  // log alpha, its moments, the target's share
  for (int i = 0; i < 2; ++i) {              // shift and scale of observations
    add(observations, 0.f);
    for (float& value : tensors.back()) value = (float)i;
  }
  for (double number : {0.99, 0.005, 2., -5., -(double)actions, 0.1, 1e-4, 0.9}) numbers.push_back(number);
  int expected[2];
  lff_expects(expected);
  if (expected[0] != (int)pointers.size() || expected[1] != (int)numbers.size()) return 2;

  void* agent = lff_new(pointers.data(), numbers.data());
  const auto obs = random.many((size_t)rows * observations, 1), next = random.many((size_t)rows * observations, 1);
  const auto action = random.many((size_t)rows * actions, 1), reward = random.many(rows, 1);
  std::vector<uint8_t> terminated(rows);
  for (uint8_t& value : terminated) value = random.uniform() > 0.8f;
  const Replay replay{obs.data(), action.data(), reward.data(), next.data(), terminated.data(), rows};
  for (int step = 0; step < updates; ++step) {
    std::vector<int64_t> index(batch);
    for (int64_t& row : index) row = (int64_t)((random.uniform() + 1) / 2 * (rows - 1));
    const auto now = random.many(batch * actions, 1), then = random.many(batch * actions, 1);
    const auto target = random.many(batch, 1);
    const Noise noise{now.data(), then.data(), target.data()};
    float out[metrics] = {};
    if (lff_update(agent, &replay, index.data(), &noise, step != 1, out)) return 1;
    for (float value : out) std::printf("%.6g ", value);
    std::printf("\n");
  }
  std::vector<float> acted((size_t)7 * actions);
  const auto eps = random.many(acted.size(), 1);
  lff_act(agent, obs.data(), eps.data(), acted.data(), 7);
  lff_act(agent, obs.data(), nullptr, acted.data() + 6 * actions, 1);
  for (float value : acted) std::printf("%.5g ", value);
  std::printf("\n");
  for (size_t i = 0; i < weights; ++i) std::printf("%.6g ", sum_of(tensors[i]));
  std::printf("\n");
  lff_free(agent);
}
