// Acting alone, for an agent that learns elsewhere: the outputs of one network on some rows.
#include <new>

#include "act.hpp"
#include "shape.hpp"

namespace lff {

using Policy = Params<Actor>;

template <int R>
void policy_some(const Policy& policy, const float* x, float* out) {
  const float* rows[R];
  for (int r = 0; r < R; ++r) rows[r] = x + (size_t)r * Actor::in;
  act_rows<Actor, R>(policy, rows, [&](int r, int o, float v) { out[r * Actor::Output::total + o] = v; });
}

}  // namespace lff

#define EXPORT __attribute__((visibility("default")))

extern "C" {

// Takes the addresses of the parameters, in the order of Params::each.
EXPORT void* lff_policy_new(float** values) {
  auto* policy = new (std::nothrow) lff::Policy();
  if (policy) policy->each([&](lff::Slot& slot, int) { slot.value = *values++; });
  return policy;
}

EXPORT void lff_policy_free(void* policy) { delete static_cast<lff::Policy*>(policy); }

EXPORT void lff_policy_act(const void* policy, const float* x, float* out, int rows) {
  const auto& p = *static_cast<const lff::Policy*>(policy);
  constexpr int in = lff::Actor::in, outs = lff::Actor::Output::total;
  int row = 0;
  for (; row + 4 <= rows; row += 4) lff::policy_some<4>(p, x + (size_t)row * in, out + (size_t)row * outs);
  for (; row < rows; ++row) lff::policy_some<1>(p, x + (size_t)row * in, out + (size_t)row * outs);
}
}
