// The operations between the products, each over n rows as wide as the pinned models have them.
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "experiments/bench/kernel_bench.h"
#include "kernels/cases/floats.h"

namespace forerun {
namespace {

struct Shape {
  const char* model;
  int heads, head_size, width, ffn_width, vocab;
};
constexpr Shape kShapes[] = {{"SmolLM2-135M", 9, 64, 576, 1536, 49152},
                             {"Qwen2.5-0.5B", 14, 64, 896, 4864, 151936},
                             {"Qwen2.5-1.5B", 12, 128, 1536, 8960, 151936},
                             {"Gemma-3-270m", 4, 256, 640, 2048, 262144}};

using Body = void (*)(const KernelBench&, benchmark::State&, const Shape&);

template <class Args>
void Time(const KernelBench& bench, benchmark::State& state, KernelFn<Args> fn, const Args& args) {
  TimeKernel(bench, state, 1, {}, [&](int64_t) { bench.threads.Run(fn, args, state.range(0), 1); });
}

void QuantizeRows(const KernelBench& bench, benchmark::State& state, const Shape& shape) {
  const std::vector<float> x = RandomFloats(1, state.range(0) * shape.width);
  std::vector<int8_t> codes(x.size());
  std::vector<float> scales(x.size() / 32);
  std::vector<int32_t> sums(x.size() / 16);
  const QuantizeRowsArgs args{.x = x.data(),
                              .columns = shape.width,
                              .codes = codes.data(),
                              .scales = scales.data(),
                              .sums = sums.data()};
  Time(bench, state, bench.kernels.quantize_rows, args);
}

void RmsNorm(const KernelBench& bench, benchmark::State& state, const Shape& shape) {
  const std::vector<float> x = RandomFloats(1, state.range(0) * shape.width),
                           gain = RandomFloats(2, shape.width);
  std::vector<float> y(x.size());
  const RmsNormArgs args{
      .x = x.data(), .gain = gain.data(), .y = y.data(), .columns = shape.width, .epsilon = 1e-6f};
  Time(bench, state, bench.kernels.rms_norm, args);
}

void Gate(const KernelBench& bench, benchmark::State& state, const Shape& shape) {
  const std::vector<float> gate = RandomFloats(1, state.range(0) * shape.ffn_width);
  std::vector<float> y(gate.size());
  const GateArgs args{.gate = gate.data(), .up = gate.data(), .y = y.data(), .columns = shape.ffn_width};
  Time(bench, state, bench.kernels.gate, args);
}

void Rope(const KernelBench& bench, benchmark::State& state, const Shape& shape) {
  const int64_t rows = state.range(0), width = int64_t{shape.heads} * shape.head_size;
  std::vector<float> x = RandomFloats(1, rows * width);
  std::vector<int32_t> positions(rows, 0);
  std::vector<float> cosines(shape.head_size / 2, std::cos(1.0f)), sines(cosines.size(), std::sin(1.0f));
  const RopeArgs args{.x = x.data(),
                      .row_stride = width,
                      .heads = shape.heads,
                      .head_size = shape.head_size,
                      .rotary = shape.head_size,
                      .pairing = RopePairing::kHalves,
                      .positions = positions.data(),
                      .cosines = cosines.data(),
                      .sines = sines.data()};
  Time(bench, state, bench.kernels.rope, args);
}

template <bool kArgmax>
void RowReduce(const KernelBench& bench, benchmark::State& state, const Shape& shape) {
  const std::vector<float> x = RandomFloats(1, state.range(0) * shape.vocab, -10, 10);
  std::vector<int32_t> best(state.range(0));
  std::vector<double> sums(state.range(0));
  const RowReduceArgs args{.x = x.data(),
                           .stride = shape.vocab,
                           .columns = shape.vocab,
                           .argmax = kArgmax ? best.data() : nullptr,
                           .log_sum_exp = kArgmax ? nullptr : sums.data()};
  Time(bench, state, bench.kernels.row_reduce, args);
}

struct Operation {
  const char* name;
  Body body;
};
constexpr Operation kOperations[] = {{"quantize_rows", QuantizeRows},
                                     {"rms_norm", RmsNorm},
                                     {"gate", Gate},
                                     {"rope", Rope},
                                     {"row_reduce_argmax", RowReduce<true>},
                                     {"row_reduce_log_sum_exp", RowReduce<false>}};

}  // namespace

void RegisterRowBenchmarks(const KernelBench& bench) {
  for (const Operation& operation : kOperations) {
    for (const Shape& shape : kShapes) {
      const std::string name = absl::StrCat(operation.name, "/", shape.model, "/n");
      auto* added = benchmark::RegisterBenchmark(
          name.c_str(),
          [bench, &operation, &shape](benchmark::State& state) { operation.body(bench, state, shape); });
      for (const int rows : {1, 4, 16}) added->Arg(rows);
      added->UseRealTime()->MinTime(0.05)->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace forerun
