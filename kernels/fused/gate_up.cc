#include "kernels/fused/gate_up.h"

#include <algorithm>

namespace forerun {
namespace {

constexpr int64_t kGroups = kGateUpColumns / kPackedOutputs;

// A few units whose outputs for all rows stay in cache until they are codes.
void GateUpInCache(const GateUpArgs& args, WorkRange units, Lane& lane) {
  const int64_t width = args.gate.weights.outputs;
  const WorkRange groups{units.begin * kGroups, std::min(units.end * kGroups, PackedGroups(width))};
  args.gate_matmul(args.gate, groups, lane);
  args.up_matmul(args.up, groups, lane);
  const int64_t first = units.begin * kGateUpColumns;
  const int64_t columns = std::min(units.end * kGateUpColumns, width) - first;
  float* const gate = args.gate.y + first;
  args.kernels->gate({args.activation, gate, args.up.y + first, gate, columns, args.gate.y_stride},
                     {0, args.gate.rows}, lane);
  QuantizeInto(*args.kernels, args.gate.y, args.to, {0, args.gate.rows}, units, lane);
}

}  // namespace

void GateUp(const GateUpArgs& args, WorkRange units, Lane& lane) {
  constexpr int64_t kInCache = 32768;  // floats
  const int64_t step = std::max<int64_t>(1, kInCache / (2 * kGateUpColumns * args.gate.rows));
  for (int64_t begin = units.begin; begin < units.end; begin += step) {
    GateUpInCache(args, {begin, std::min(begin + step, units.end)}, lane);
  }
}

}  // namespace forerun
