// Attention of one forward at real shapes: time a layer, and KV bytes a second where memory is what it waits
// for. Each iteration takes the next of 28 layers, so that the KV comes from memory as it does in a model.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {
namespace {

constexpr int kLayers = 28;

struct Shape {
  const char* name;
  int heads, kv_heads, head_size;
};
constexpr Shape kShapes[] = {
    {"1.5B", 12, 2, 128}, {"0.5B", 14, 2, 64}, {"135M", 9, 3, 64}, {"gemma", 4, 1, 256}};

// `rows` rows after a context of `context` tokens. Rows are causal (prefill) or a tree (each after three
// ancestors).
struct Forward {
  AttentionArgs args;
  std::vector<std::unique_ptr<std::byte[]>> memory;
  std::vector<const std::byte*> blocks;
  std::vector<float> q, y;
  std::vector<KvSlot> tail;
  std::vector<AttentionRow> rows;
  std::vector<AttentionTile> tiles;

  Forward(const Shape& shape, int context, int num_rows, bool tree) {
    args.layer = {KvDtype::kF16, shape.kv_heads, shape.head_size, 0};
    args.heads = shape.heads;
    args.scale = 0.1f;
    args.q_stride = shape.heads * shape.head_size;
    q.assign(num_rows * args.q_stride, 0.25f);
    y.resize(q.size());
    const std::size_t block_bytes = args.layer.bytes() * kLayers;
    for (int from = 0; from < context + num_rows; from += kBlockTokens) {
      memory.push_back(std::make_unique<std::byte[]>(block_bytes));
      std::memset(memory.back().get(), 0x2c, block_bytes);  // halves near 0.066
    }
    std::shuffle(memory.begin(), memory.end(), std::mt19937(1));
    for (const auto& block : memory) blocks.push_back(block.get());
    tail.assign(4, {memory.back().get(), 2});
    for (int row = 0; row < num_rows; ++row) {
      rows.push_back(tree ? AttentionRow{blocks.data(), context, tail.data(), 4}
                          : AttentionRow{blocks.data(), context + row + 1, nullptr, 0});
    }
    for (int row = 0; row < num_rows; row += kAttentionTileRows) {
      tiles.push_back({row, std::min(kAttentionTileRows, num_rows - row)});
    }
    args.q = q.data(), args.y = y.data(), args.rows = rows.data(), args.tiles = tiles.data();
  }
};

void Attention(benchmark::State& state, Isa isa, const Shape& shape, int context, int rows, bool tree,
               int threads) {
  Forward forward(shape, context, rows, tree);
  ThreadPool pool(threads);
  const KernelFn<AttentionArgs> fn = kAttention.For(isa);
  const int64_t units = static_cast<int64_t>(forward.tiles.size()) * shape.kv_heads;
  int layer = 0;
  for (auto _ : state) {
    forward.args.layer.offset = forward.args.layer.bytes() * layer;
    layer = (layer + 1) % kLayers;
    pool.Run(fn, forward.args, units, 1);
  }
  const double kv_bytes = static_cast<double>(context) / kBlockTokens * forward.args.layer.bytes();
  const double multiply_adds =
      2.0 * shape.heads * shape.head_size * rows * (context + (tree ? 4 : rows / 2.0));
  state.counters["kv_bytes/s"] = benchmark::Counter(kv_bytes, benchmark::Counter::kIsIterationInvariantRate,
                                                    benchmark::Counter::kIs1024);
  state.counters["flop/s"] =
      benchmark::Counter(2 * multiply_adds, benchmark::Counter::kIsIterationInvariantRate);
}

void RegisterAll() {
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    if (static_cast<int>(isa) > static_cast<int>(DetectIsa())) continue;
    for (const Shape& shape : kShapes) {
      for (const int threads : {1, 2}) {
        const auto add = [&](const char* what, int context, int rows, bool tree) {
          const std::string name = std::string("attention/") + shape.name + "/" + what + "/" + IsaName(isa) +
                                   "/threads:" + std::to_string(threads);
          benchmark::RegisterBenchmark(
              name.c_str(),
              [=](benchmark::State& state) { Attention(state, isa, shape, context, rows, tree, threads); })
              ->Unit(benchmark::kMicrosecond)
              ->UseRealTime();
        };
        add("decode_2048", 2048, 1, false);
        add("tree16_2048", 2048, 16, true);
        add("prefill_512", 0, 512, false);
      }
    }
  }
}

}  // namespace
}  // namespace forerun

int main(int argc, char** argv) {
  forerun::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
