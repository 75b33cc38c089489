// Speed of the matrix product on the layers of real models, beside what memory gives: run
//   matmul_benchmark --benchmark_filter=Q4_K
// Each benchmark streams enough different matrices that none stays in cache. Counters: ms a pass, as the sum
// over the matrices of each one's best time (on a busy machine whole passes are hardly ever undisturbed),
// GB/s of packed weights (a weight counts once, whatever the rows) and GMAC/s; "of_read" is GB/s over the
// best read bandwidth seen just before.
#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/matmul/matmul.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/runtime/buffer.h"
#include "kernels/runtime/thread_pool.h"
#include "tests/support/weights.h"

namespace forerun {
namespace {

constexpr int kThreads = 2;
constexpr int64_t kStreamBytes = int64_t{192} << 20;  // well past the last-level cache

ThreadPool& Pool() {
  static ThreadPool pool(kThreads);
  return pool;
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct ReadArgs {
  const std::byte* data;
};

// Unit: one page of 4096 bytes.
void ReadPages(const ReadArgs& args, WorkRange range, Lane&) {
  __m128i sum[4] = {};
  const auto* p = reinterpret_cast<const __m128i*>(args.data + range.begin * 4096);
  const auto* end = reinterpret_cast<const __m128i*>(args.data + range.end * 4096);
  for (; p < end; p += 4) {
    _mm_prefetch(reinterpret_cast<const char*>(p) + 12288, _MM_HINT_T1);
    for (int i = 0; i < 4; ++i) sum[i] = _mm_xor_si128(sum[i], _mm_load_si128(p + i));
  }
  const __m128i all = _mm_xor_si128(_mm_xor_si128(sum[0], sum[1]), _mm_xor_si128(sum[2], sum[3]));
  benchmark::DoNotOptimize(_mm_cvtsi128_si32(all));
}

// GB/s, best of a few passes over `bytes` bytes.
double ReadBandwidth(const std::byte* data, int64_t bytes) {
  double best = 0.0;
  for (int pass = 0; pass < 4; ++pass) {
    const double start = Seconds();
    Pool().Run<ReadArgs>(ReadPages, {data}, bytes / 4096, 32);
    best = std::max(best, static_cast<double>(bytes) / (Seconds() - start) / 1e9);
  }
  return best;
}

struct Shape {
  TensorType type;
  int64_t outputs, columns;
};

// The matrices that one pass reads, each with memory of its own.
class Weights {
 public:
  explicit Weights(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) bytes_ += PackedBytes(shape.type, shape.outputs, shape.columns);
    memory_ = std::make_unique<Buffer>(bytes_ + 4096);
    std::byte* at = memory_->data();
    for (const Shape& shape : shapes) {
      matrices_.push_back({shape.type, shape.outputs, shape.columns, at});
      at += Fill(matrices_.back(), at);
    }
  }

  const std::vector<PackedMatrix>& matrices() const { return matrices_; }
  const std::byte* data() const { return memory_->data(); }
  int64_t bytes() const { return bytes_; }

 private:
  // One random group, repeated: the values do not matter to the speed.
  static int64_t Fill(const PackedMatrix& matrix, std::byte* data) {
    std::mt19937 random(1);
    const std::vector<std::byte> rows = RandomWeights(matrix.type, 16, matrix.columns, false, random);
    const auto group_bytes = static_cast<int64_t>(PackedGroupBytes(matrix.type, matrix.columns));
    const int64_t bytes = PackedGroups(matrix.outputs) * group_bytes;
    PackGroup(matrix.type, rows.data(), 16, matrix.columns, data);
    for (int64_t at = group_bytes; at < bytes; at += group_bytes) std::memcpy(data + at, data, group_bytes);
    return bytes;
  }

  std::unique_ptr<Buffer> memory_;
  std::vector<PackedMatrix> matrices_;
  int64_t bytes_ = 0;
};

// Enough matrices of one shape that none stays in cache.
std::vector<Shape> Stream(const Shape& shape) {
  const auto bytes = static_cast<int64_t>(PackedBytes(shape.type, shape.outputs, shape.columns));
  return std::vector<Shape>(std::max<int64_t>(1, kStreamBytes / bytes), shape);
}

// All matrix products of a token of Qwen2.5-Coder-1.5B as Q4_K_M: half of its layers have Q6_K in v and down.
std::vector<Shape> Qwen1_5B() {
  std::vector<Shape> shapes;
  for (int layer = 0; layer < 28; ++layer) {
    const TensorType more = layer % 2 == 0 ? TensorType::kQ6_K : TensorType::kQ4_K;
    for (int64_t outputs : {1536, 256, 1536, 8960, 8960})
      shapes.push_back({TensorType::kQ4_K, outputs, 1536});
    shapes.push_back({more, 256, 1536});
    shapes.push_back({more, 1536, 8960});
  }
  for (int part = 0; part < 16; ++part) shapes.push_back({TensorType::kQ6_K, 151936 / 16, 1536});
  return shapes;
}

// The weights of the benchmark that runs now; only one set is in memory at a time.
const Weights& WeightsOf(const std::string& name, const std::vector<Shape>& shapes) {
  static std::string held;
  static std::unique_ptr<Weights> weights;
  if (held != name) {
    weights.reset();
    weights = std::make_unique<Weights>(shapes);
    held = name;
  }
  return *weights;
}

struct Activations {
  Activations(int64_t rows, int64_t columns)
      : x(rows * columns), codes(x.size()), scales(x.size() / 32), sums(x.size() / 16) {
    std::mt19937 random(2);
    for (float& value : x) value = static_cast<float>(random() % 2001) * 1e-3f - 1.0f;
    Lane lane;
    QuantizeRowsReference({x.data(), columns, codes.data(), scales.data(), sums.data()}, {0, rows}, lane);
  }

  std::vector<float> x;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
};

// Groups handed to a thread at once: some 128 KiB of weights, but enough pieces for the threads to even out.
int64_t Grain(const PackedMatrix& matrix) {
  const auto group_bytes = static_cast<int64_t>(PackedGroupBytes(matrix.type, matrix.columns));
  const int64_t even = std::max<int64_t>(1, PackedGroups(matrix.outputs) / (4 * kThreads));
  return std::clamp<int64_t>((128 << 10) / group_bytes, 1, even);
}

void Multiply(benchmark::State& state, Isa isa, const std::string& name, const std::vector<Shape>& shapes) {
  const Weights& weights = WeightsOf(name, shapes);
  const int64_t rows = state.range(0);
  int64_t columns = 0, outputs = 0;
  double macs = 0.0;
  for (const PackedMatrix& matrix : weights.matrices()) {
    columns = std::max(columns, matrix.columns);
    outputs = std::max(outputs, matrix.outputs);
    macs += static_cast<double>(rows * matrix.outputs) * static_cast<double>(matrix.columns);
  }
  const Activations activations(rows, columns);
  std::vector<float> y(rows * outputs);
  const double read = ReadBandwidth(weights.data(), weights.bytes());
  std::vector<double> times(weights.matrices().size(), 1e30);
  for (auto _ : state) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const PackedMatrix& matrix = weights.matrices()[i];
      const double start = Seconds();
      const MatmulArgs args{.weights = matrix,
                            .rows = rows,
                            .x = activations.x.data(),
                            .codes = activations.codes.data(),
                            .scales = activations.scales.data(),
                            .sums = activations.sums.data(),
                            .y = y.data(),
                            .y_stride = matrix.outputs};
      Pool().Run(kMatmulA8.For(isa), args, PackedGroups(matrix.outputs), Grain(matrix));
      times[i] = std::min(times[i], Seconds() - start);
    }
  }
  const double best = std::accumulate(times.begin(), times.end(), 0.0);
  state.counters["ms"] = best * 1e3;
  state.counters["GB/s"] = static_cast<double>(weights.bytes()) / best / 1e9;
  state.counters["of_read"] = static_cast<double>(weights.bytes()) / best / 1e9 / read;
  state.counters["GMAC/s"] = macs / best / 1e9;
}

void Register(Isa isa, const std::string& name, const std::vector<Shape>& shapes) {
  const std::string title = std::string(IsaName(isa)) + "/" + name;
  auto* bench = benchmark::RegisterBenchmark(
      title.c_str(), [=](benchmark::State& state) { Multiply(state, isa, name, shapes); });
  for (int rows : {1, 2, 3, 4, 6, 8, 12, 16, 64, 512}) bench->Arg(rows);
  bench->UseRealTime()->MinTime(0.5);
}

// Shapes of Qwen2.5-Coder-1.5B (Q4_K, Q6_K) and 0.5B (Q5_0, Q8_0, Q6_K), SmolLM2-135M (Q4_1), and a small F16
// model.
constexpr Shape kShapes[] = {
    {TensorType::kQ4_K, 1536, 1536}, {TensorType::kQ4_K, 8960, 1536},   {TensorType::kQ4_K, 1536, 8960},
    {TensorType::kQ6_K, 1536, 8960}, {TensorType::kQ6_K, 151936, 1536}, {TensorType::kQ5_0, 4864, 896},
    {TensorType::kQ8_0, 896, 896},   {TensorType::kQ6_K, 896, 4864},    {TensorType::kQ4_1, 1536, 576},
    {TensorType::kF16, 512, 128},
};

void RegisterAll() {
  for (Isa isa : kAllIsas) {
    if (isa == Isa::kReference || static_cast<int>(DetectIsa()) < static_cast<int>(isa)) continue;
    Register(isa, "qwen2.5-1.5b", Qwen1_5B());
    for (const Shape& shape : kShapes) {
      const std::string size = std::to_string(shape.columns) + "x" + std::to_string(shape.outputs);
      Register(isa, std::string(Info(shape.type).name) + "/" + size, Stream(shape));
    }
  }
}

}  // namespace
}  // namespace forerun

int main(int argc, char** argv) {
  forerun::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
