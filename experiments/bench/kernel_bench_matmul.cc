// The matrix product: each weight type at the shapes that the pinned models have it in.
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "experiments/bench/kernel_bench.h"
#include "kernels/cases/activations.h"
#include "kernels/cases/floats.h"
#include "kernels/cases/weights.h"
#include "kernels/runtime/buffer.h"

namespace forerun {
namespace {

constexpr int64_t kStreamBytes = int64_t{192} << 20;  // well past the last-level cache

struct Shape {
  TensorType type;
  int64_t outputs, columns;
};

constexpr Shape kShapes[] = {
    // SmolLM2-135M
    {TensorType::kQ4_1, 192, 576},
    {TensorType::kQ4_1, 576, 576},
    {TensorType::kQ4_1, 1536, 576},
    {TensorType::kQ4_1, 576, 1536},
    {TensorType::kQ8_0, 49152, 576},
    // Qwen2.5-Coder-0.5B
    {TensorType::kQ5_0, 128, 896},
    {TensorType::kQ5_0, 896, 896},
    {TensorType::kQ5_0, 4864, 896},
    {TensorType::kQ4_K, 896, 4864},
    {TensorType::kQ6_K, 896, 4864},
    {TensorType::kQ8_0, 151936, 896},
    // Qwen2.5-Coder-1.5B
    {TensorType::kQ4_K, 256, 1536},
    {TensorType::kQ4_K, 1536, 1536},
    {TensorType::kQ4_K, 8960, 1536},
    {TensorType::kQ4_K, 1536, 8960},
    {TensorType::kQ6_K, 256, 1536},
    {TensorType::kQ6_K, 1536, 8960},
    {TensorType::kQ6_K, 151936, 1536},
    // Gemma-3-270m
    {TensorType::kQ5_0, 256, 640},
    {TensorType::kQ5_0, 1024, 640},
    {TensorType::kQ5_0, 2048, 640},
    {TensorType::kQ4_K, 640, 1024},
    {TensorType::kQ6_K, 640, 2048},
    {TensorType::kQ8_0, 262144, 640},
    // the tiny pair
    {TensorType::kF16, 512, 128},
};

// Matrices of one shape, each with memory of its own: one random group, repeated, as the values do not matter
// to the speed.
class WeightStream {
 public:
  explicit WeightStream(const Shape& shape)
      : shape_(shape),
        matrix_bytes_(PackedBytes(shape.type, shape.outputs, shape.columns)),
        count_(std::max<int64_t>(1, kStreamBytes / matrix_bytes_)),
        memory_(count_ * matrix_bytes_) {
    std::mt19937 random(1);
    const PackedWeights group(shape.type, kPackedOutputs, shape.columns,
                              RandomWeights(shape.type, kPackedOutputs, shape.columns, false, random));
    const std::size_t bytes = PackedGroupBytes(shape.type, shape.columns);
    for (std::size_t at = 0; at < memory_.bytes(); at += bytes) {
      std::memcpy(memory_.data() + at, group.matrix().data, bytes);
    }
  }

  int64_t count() const { return count_; }
  PackedMatrix matrix(int64_t index) const {
    return {shape_.type, shape_.outputs, shape_.columns, memory_.data() + index * matrix_bytes_};
  }

 private:
  Shape shape_;
  int64_t matrix_bytes_;
  int64_t count_;
  Buffer memory_;
};

// That of the benchmark which runs now; benchmarks of one shape follow each other.
const WeightStream& StreamOf(const Shape& shape) {
  static std::unique_ptr<WeightStream> stream;
  static const Shape* held = nullptr;
  if (held != &shape) {
    stream.reset();
    stream = std::make_unique<WeightStream>(shape);
    held = &shape;
  }
  return *stream;
}

// Groups handed to a thread at once: some 128 KiB of weights, but enough pieces for the threads to even out.
int64_t Grain(const PackedMatrix& matrix, int threads) {
  const auto group_bytes = static_cast<int64_t>(PackedGroupBytes(matrix.type, matrix.columns));
  const int64_t even = std::max<int64_t>(1, PackedGroups(matrix.outputs) / (4 * threads));
  return std::clamp<int64_t>((128 << 10) / group_bytes, 1, even);
}

void Multiply(const KernelBench& bench, benchmark::State& state, const Shape& shape, bool a8) {
  bench.roofline.RefreshEvery(1);
  const WeightStream& stream = StreamOf(shape);
  const int64_t rows = state.range(0);
  const Activations activations(RandomFloats(2, rows * shape.columns), shape.columns);
  std::vector<float> y(rows * shape.outputs);
  std::vector<std::byte> arranged(ArrangedBytes(rows, shape.columns));
  MatmulArgs args = activations.Rows(0, rows);
  args.y = y.data();
  args.y_stride = shape.outputs;
  if (a8) {  // once for all products with these rows, as in a model
    Lane lane;
    const ArrangeArgs arrange{.type = shape.type,
                              .rows = rows,
                              .columns = shape.columns,
                              .first_block = 0,
                              .blocks = shape.columns / 32,
                              .codes = args.codes,
                              .scales = args.scales,
                              .sums = args.sums,
                              .arranged = arranged.data()};
    bench.kernels.arrange(arrange, {0, rows}, lane);
    args.arranged = arranged.data();
  }
  const ModelMatrix matrix = {shape.type, shape.outputs, shape.columns, a8};
  const KernelWork work = {static_cast<double>(matrix.packed_bytes()),
                           static_cast<double>(rows * matrix.multiply_adds()), bench.roofline.gmac_s(matrix)};
  const KernelFn<MatmulArgs> fn = a8 ? bench.kernels.matmul_a8 : bench.kernels.matmul_f32;
  TimeKernel(bench, state, stream.count(), work, [&](int64_t i) {
    args.weights = stream.matrix(i);
    bench.threads.Run(fn, args, PackedGroups(shape.outputs),
                      Grain(args.weights, bench.threads.num_threads()));
  });
}

}  // namespace

void RegisterMatmulBenchmarks(const KernelBench& bench) {
  for (const Shape& shape : kShapes) {
    for (const bool a8 : {true, false}) {
      if (a8 && IsFloat(shape.type)) continue;
      const std::string name = absl::StrCat("matmul_", a8 ? "a8/" : "f32/", Info(shape.type).name, "/",
                                            shape.columns, "x", shape.outputs, "/n");
      auto* added = benchmark::RegisterBenchmark(
          name.c_str(), [bench, &shape, a8](benchmark::State& state) { Multiply(bench, state, shape, a8); });
      for (const int rows : {1, 2, 4, 8, 16, 32}) added->Arg(rows);
      added->UseRealTime()->MinTime(0.1)->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace forerun
