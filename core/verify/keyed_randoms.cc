// One uniform a coin or draw, under the key of its round and node; races for target draws.
#include "core/base/check.h"
#include "core/verify/verifier.h"

namespace forerun {

RandomKey TargetDrawKey(uint64_t seed, uint64_t request, int64_t position) {
  FORERUN_CHECK(position >= 0);
  return {seed, request, static_cast<uint64_t>(position), 0, Purpose::kTarget};
}

bool KeyedRandoms::Coin(int node, double probability) {
  return Uniform({seed_, request_, committed_, static_cast<uint64_t>(node), Purpose::kAccept}) < probability;
}

TokenId KeyedRandoms::Draw(int node, Purpose purpose, const Distribution& p) {
  return p.DrawAt(Uniform({seed_, request_, committed_, static_cast<uint64_t>(node), purpose}));
}

TokenId KeyedRandoms::TargetDraw(int64_t position, const Distribution& p) {
  return p.DrawRace(TargetDrawKey(seed_, request_, position));
}

}  // namespace forerun
