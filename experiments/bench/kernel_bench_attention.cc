// Attention of the last rows of a chain over contexts of several lengths. As many layers take turns as it
// needs for their keys and values to come from memory, as they do in a model.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/bench/kernel_bench.h"
#include "kernels/cases/attention_case.h"

namespace forerun {
namespace {

constexpr int kMostRows = 16;
constexpr int64_t kStreamBytes = int64_t{96} << 20;
constexpr int64_t kMostLayers = 28;

struct Shape {
  const char* model;
  int heads, kv_heads, head_size;
};
constexpr Shape kShapes[] = {{"SmolLM2-135M", 9, 3, 64},
                             {"Qwen2.5-0.5B", 14, 2, 64},
                             {"Qwen2.5-1.5B", 12, 2, 128},
                             {"Gemma-3-270m", 4, 1, 256}};

// One layer: `context` tokens, and rows after them.
struct Layer {
  AttentionCase world;
  std::vector<std::byte*> blocks;

  Layer(const Shape& shape, int context, uint32_t seed)
      : world(
            {.kv_heads = shape.kv_heads, .group = shape.heads / shape.kv_heads, .head_size = shape.head_size},
            seed),
        blocks(world.MakeBlocks(context + kMostRows)) {
    for (int position = 0; position < context + kMostRows; ++position) {
      world.Put(AttentionCase::Slot(blocks, position), position);
    }
    for (int row = 0; row < kMostRows; ++row) world.AddRow(context + row, blocks, context + row + 1, {});
  }
};

int64_t KvBytes(const Shape& shape, int context) {
  return int64_t{2} * context * shape.kv_heads * shape.head_size * 2;
}

// Those of the benchmark which runs now; benchmarks of one shape and context follow each other.
const std::vector<std::unique_ptr<Layer>>& LayersOf(const Shape& shape, int context) {
  static std::vector<std::unique_ptr<Layer>> layers;
  static std::pair<const Shape*, int> held = {nullptr, 0};
  if (held == std::pair(&shape, context)) return layers;
  layers.clear();
  const int64_t count = std::clamp<int64_t>(kStreamBytes / KvBytes(shape, context), 1, kMostLayers);
  for (int64_t i = 0; i < count; ++i) layers.push_back(std::make_unique<Layer>(shape, context, i + 1));
  held = {&shape, context};
  return layers;
}

void Attend(const KernelBench& bench, benchmark::State& state, const Shape& shape, int context) {
  bench.roofline.RefreshEvery(1);
  const std::vector<std::unique_ptr<Layer>>& layers = LayersOf(shape, context);
  const int rows = static_cast<int>(state.range(0));
  const std::vector<AttentionTile> tiles = {{0, rows}};
  std::vector<float> y;
  AttentionArgs args = layers[0]->world.Args(tiles, y);
  args.split = ChooseAttentionSplit(args, 1, bench.threads.num_threads());
  std::vector<float> partials(AttentionPartialFloats(args, 1));
  std::vector<AttentionArgs> of_layers;
  for (const auto& layer : layers) {
    of_layers.push_back(layer->world.Args(tiles, y));
    of_layers.back().split = args.split;
    of_layers.back().partials = partials.data();
  }
  const KernelWork work = {static_cast<double>(KvBytes(shape, context)),
                           2.0 * shape.heads * shape.head_size * rows * (context + (rows + 1) / 2.0),
                           bench.roofline.fma_gmac_s()};
  const Isa isa = bench.kernels.isa;
  TimeKernel(bench, state, static_cast<int64_t>(layers.size()), work, [&](int64_t i) {
    bench.threads.Run(kAttention.For(isa), of_layers[i], AttentionUnits(args, 1), 1);
    if (args.split.parts > 1) {
      bench.threads.Run(kAttentionMerge.For(isa), of_layers[i], AttentionMergeUnits(args, 1), 1);
    }
  });
}

}  // namespace

void RegisterAttentionBenchmarks(const KernelBench& bench) {
  for (const Shape& shape : kShapes) {
    for (const int context : {256, 2048, 16384}) {
      const std::string name = absl::StrCat("attention/", shape.model, "/context:", context, "/n");
      auto* added = benchmark::RegisterBenchmark(
          name.c_str(),
          [bench, &shape, context](benchmark::State& state) { Attend(bench, state, shape, context); });
      for (const int rows : {1, 2, 4, 8, kMostRows}) added->Arg(rows);
      added->UseRealTime()->MinTime(0.1)->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace forerun
