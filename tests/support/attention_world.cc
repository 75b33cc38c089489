#include "tests/support/attention_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace forerun {

std::vector<float> AttentionWorld::Run(KernelFn<AttentionArgs> fn, int tile_rows, bool split) {
  const std::vector<AttentionTile> tiles = Tiles(tile_rows);
  std::vector<float> y;
  const AttentionArgs args = Args(tiles, y);
  const int64_t units = AttentionUnits(args, tiles.size());
  Lane lane;
  if (!split) fn(args, {0, units}, lane);
  for (int64_t unit = units - 1; split && unit >= 0; --unit) fn(args, {unit, unit + 1}, lane);
  return y;
}

std::vector<float> AttentionWorld::RunInParts(const AttentionKernels& kernels, int tile_rows, int parts,
                                              int head_parts, bool unfused) {
  const std::vector<AttentionTile> tiles = Tiles(tile_rows);
  const int64_t num_tiles = static_cast<int64_t>(tiles.size());
  std::vector<float> y;
  AttentionArgs args = Args(tiles, y);
  args.split = ChooseAttentionSplit(args, num_tiles, 1);
  args.split.parts = parts;
  args.split.head_parts = head_parts;
  constexpr float kGuard = -1234.5f;
  const auto workspace = [&](int64_t floats) {
    std::vector<float> memory(floats, std::numeric_limits<float>::quiet_NaN());
    memory.resize(floats + 64, kGuard);
    return memory;
  };
  std::vector<float> partials = workspace(AttentionPartialFloats(args, num_tiles));
  std::vector<float> scores = workspace(unfused ? AttentionScoreFloats(args, num_tiles) : 0);
  args.partials = partials.data();
  args.scores = scores.data();
  Lane lane;
  const auto run = [&](KernelFn<AttentionArgs> fn, int64_t units) {
    for (int64_t unit = units - 1; unit >= 0; --unit) fn(args, {unit, unit + 1}, lane);
  };
  const int64_t units = AttentionUnits(args, num_tiles);
  if (unfused) {
    for (const auto fn : {kernels.scores, kernels.softmax, kernels.values}) run(fn, units);
  } else {
    run(kernels.attention, units);
  }
  if (parts > 1) run(kernels.merge, AttentionMergeUnits(args, num_tiles));
  for (const std::vector<float>* memory : {&partials, &scores}) {
    EXPECT_EQ(64, std::count(memory->end() - 64, memory->end(), kGuard)) << "wrote past a workspace";
  }
  return y;
}

AttentionTree::AttentionTree(AttentionWorld& world, std::mt19937& random, int prefix, int nodes) {
  constexpr uint32_t kFirstNode = 100000;  // tokens of the tree lie above those of the prefix
  blocks.push_back(world.MakeBlocks(prefix + 1));
  for (int position = 0; position < prefix; ++position) {
    world.Put(AttentionWorld::Slot(blocks[0], position), position);
  }
  std::vector<KvSlot> free_slots;
  for (int p = prefix; p < static_cast<int>(blocks[0].size()) * kBlockTokens; ++p) {
    free_slots.push_back(AttentionWorld::Slot(blocks[0], p));
  }
  blocks.push_back(world.MakeBlocks(2 * nodes));
  for (int p = 0; p < 2 * nodes; ++p) free_slots.push_back(AttentionWorld::Slot(blocks[1], p));
  std::shuffle(free_slots.begin(), free_slots.end(), random);
  for (int node = 0; node < nodes; ++node) {
    const int parent = static_cast<int>(random() % (node + 1)) - 1;  // -1: the prefix
    paths.push_back(parent < 0 ? std::vector<uint32_t>{} : paths[parent]);
    slots.push_back(parent < 0 ? std::vector<KvSlot>{} : slots[parent]);
    paths.back().push_back(kFirstNode + node);
    slots.back().push_back(free_slots[node]);
    world.Put(free_slots[node], kFirstNode + node);
    world.AddRow(kFirstNode + node, blocks[0], prefix, slots.back());
  }
}

}  // namespace forerun
