#include "tests/support/plain_transformer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/formats/gguf_file.h"

namespace forerun {
namespace {

using Vector = std::vector<double>;

// Rows of weights.
struct Matrix {
  std::vector<Vector> rows;

  Vector operator*(const Vector& x) const {
    Vector y;
    for (const Vector& row : rows) y.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
    return y;
  }
};

void AddTo(Vector& x, const Vector& y) {
  FORERUN_CHECK(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

double Silu(double x) { return x / (1 + std::exp(-x)); }

double GeluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

class PlainTransformer {
 public:
  explicit PlainTransformer(const GgufFile& file)
      : file_(file), family_(*file.GetString("general.architecture")) {
    layers_ = Count("block_count");
    heads_ = Count("attention.head_count");
    kv_heads_ = Count("attention.head_count_kv");
    head_size_ = Count("attention.key_length");
    rotary_ = file.Has(Key("rope.dimension_count")) ? Count("rope.dimension_count") : head_size_;
    if (family_ == "gemma3") window_ = Count("attention.sliding_window");
    epsilon_ = *file.GetF32(Key("attention.layer_norm_rms_epsilon"));
  }

  PlainForward Run(std::span<const TokenId> tokens, const LayerSubset* subset) const {
    PlainForward result;
    const Matrix embedding = Read("token_embd.weight");
    std::vector<Vector> stream;
    for (const TokenId token : tokens) {
      stream.push_back(embedding.rows[token]);
      if (family_ != "gemma3") continue;
      for (double& x : stream.back()) x *= std::sqrt(static_cast<double>(stream.back().size()));
    }
    for (int layer = 0; layer < layers_; ++layer) {
      const std::string prefix = absl::StrCat("blk.", layer, ".");
      result.states.push_back(stream);
      if (subset == nullptr || subset->attention[layer]) Attention(layer, prefix, stream);
      if (subset == nullptr || subset->feed_forward[layer]) FeedForward(prefix, stream);
    }
    const Matrix head = Has("output.weight") ? Read("output.weight") : embedding;
    const Vector gain = ReadVector("output_norm.weight");
    result.states.push_back(stream);
    for (Vector& x : stream) {
      x = Normalized(x, gain);
      result.logits.push_back(head * x);
    }
    result.states.push_back(std::move(stream));
    return result;
  }

 private:
  std::string Key(const std::string& name) const { return absl::StrCat(family_, ".", name); }
  int Count(const std::string& name) const { return static_cast<int>(*file_.GetU32(Key(name))); }
  bool Has(const std::string& tensor) const { return file_.FindTensor(tensor) != nullptr; }

  Matrix Read(const std::string& name) const {
    const GgufTensor* tensor = file_.FindTensor(name);
    FORERUN_CHECK(tensor != nullptr);
    Matrix matrix;
    std::vector<float> row(tensor->columns());
    const std::size_t row_bytes = RowBytes(tensor->type, tensor->columns());
    for (int64_t i = 0; i < tensor->rows(); ++i) {
      DequantizeRow(tensor->type, tensor->data.data() + i * row_bytes, tensor->columns(), row.data());
      matrix.rows.emplace_back(row.begin(), row.end());
    }
    return matrix;
  }
  Vector ReadVector(const std::string& name) const { return Read(name).rows.front(); }

  Vector Normalized(const Vector& x, const Vector& gain) const {
    FORERUN_CHECK(x.size() == gain.size());
    const double mean_square = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / x.size();
    Vector y;
    for (std::size_t i = 0; i < x.size(); ++i)
      y.push_back(x[i] / std::sqrt(mean_square + epsilon_) * gain[i]);
    return y;
  }

  // Gemma 3: five layers that see a window, then one that sees everything.
  bool SeesAll(int layer) const { return family_ != "gemma3" || layer % 6 == 5; }

  // Radians by which pair `pair` turns from one position to the next.
  double Frequency(int pair, bool sees_all) const {
    if (!sees_all) return std::pow(10000.0, -2.0 * pair / rotary_);
    double frequency =
        std::pow(static_cast<double>(*file_.GetF32(Key("rope.freq_base"))), -2.0 * pair / rotary_);
    if (file_.Has(Key("rope.scaling.factor"))) frequency /= *file_.GetF32(Key("rope.scaling.factor"));
    if (Has("rope_freqs.weight")) frequency /= ReadVector("rope_freqs.weight")[pair];
    return frequency;
  }

  // Projects all positions and splits into heads: [positions][heads][head size].
  std::vector<std::vector<Vector>> Heads(const std::string& prefix, const std::string& name, int heads,
                                         const std::vector<Vector>& inputs) const {
    const Matrix weight = Read(absl::StrCat(prefix, "attn_", name, ".weight"));
    const std::string bias = absl::StrCat(prefix, "attn_", name, ".bias");
    std::vector<std::vector<Vector>> all;
    for (const Vector& input : inputs) {
      Vector flat = weight * input;
      if (family_ == "qwen2") AddTo(flat, ReadVector(bias));
      std::vector<Vector>& split = all.emplace_back();
      for (int head = 0; head < heads; ++head) {
        split.emplace_back(flat.begin() + head * head_size_, flat.begin() + (head + 1) * head_size_);
      }
    }
    return all;
  }

  // Heads of q or k: Gemma 3 normalises each, all rotate each by its position.
  void NormalizeAndRotate(const std::string& gain_name, bool sees_all,
                          std::vector<std::vector<Vector>>& positions) const {
    Vector frequencies;
    for (int pair = 0; pair < rotary_ / 2; ++pair) frequencies.push_back(Frequency(pair, sees_all));
    for (std::size_t position = 0; position < positions.size(); ++position) {
      for (Vector& head : positions[position]) {
        if (family_ == "gemma3") head = Normalized(head, ReadVector(gain_name));
        for (int pair = 0; pair < rotary_ / 2; ++pair) {
          const int a = family_ == "llama" ? 2 * pair : pair;
          const int b = family_ == "llama" ? 2 * pair + 1 : pair + rotary_ / 2;
          const double angle = static_cast<double>(position) * frequencies[pair];
          const double x = head[a], y = head[b];
          head[a] = x * std::cos(angle) - y * std::sin(angle);
          head[b] = x * std::sin(angle) + y * std::cos(angle);
        }
      }
    }
  }

  void Attention(int layer, const std::string& prefix, std::vector<Vector>& stream) const {
    const Vector gain = ReadVector(prefix + "attn_norm.weight");
    std::vector<Vector> inputs;
    for (const Vector& x : stream) inputs.push_back(Normalized(x, gain));
    auto q = Heads(prefix, "q", heads_, inputs);
    auto k = Heads(prefix, "k", kv_heads_, inputs);
    const auto v = Heads(prefix, "v", kv_heads_, inputs);
    NormalizeAndRotate(prefix + "attn_q_norm.weight", SeesAll(layer), q);
    NormalizeAndRotate(prefix + "attn_k_norm.weight", SeesAll(layer), k);
    const Matrix output = Read(prefix + "attn_output.weight");
    for (int position = 0; position < static_cast<int>(stream.size()); ++position) {
      const int first = SeesAll(layer) ? 0 : std::max(0, position - window_ + 1);
      Vector joined;
      for (int head = 0; head < heads_; ++head) {
        const int kv_head = head * kv_heads_ / heads_;
        const Vector seen = Mix(q[position][head], k, v, kv_head, first, position);
        joined.insert(joined.end(), seen.begin(), seen.end());
      }
      Add(prefix + "post_attention_norm.weight", output * joined, stream[position]);
    }
  }

  // softmax(q . k / sqrt(head size)) v over positions first .. last.
  Vector Mix(const Vector& q, const std::vector<std::vector<Vector>>& k,
             const std::vector<std::vector<Vector>>& v, int kv_head, int first, int last) const {
    Vector weights;
    for (int at = first; at <= last; ++at) {
      const Vector& key = k[at][kv_head];
      weights.push_back(std::inner_product(q.begin(), q.end(), key.begin(), 0.0) / std::sqrt(head_size_));
    }
    const double highest = *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) weight = std::exp(weight - highest);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    Vector mixed(head_size_, 0.0);
    for (int at = first; at <= last; ++at) {
      for (int i = 0; i < head_size_; ++i) mixed[i] += weights[at - first] / sum * v[at][kv_head][i];
    }
    return mixed;
  }

  void FeedForward(const std::string& prefix, std::vector<Vector>& stream) const {
    const Vector gain = ReadVector(prefix + "ffn_norm.weight");
    const Matrix gate = Read(prefix + "ffn_gate.weight"), up = Read(prefix + "ffn_up.weight"),
                 down = Read(prefix + "ffn_down.weight");
    for (Vector& x : stream) {
      const Vector input = Normalized(x, gain);
      Vector hidden = gate * input;
      const Vector other = up * input;
      for (std::size_t i = 0; i < hidden.size(); ++i) {
        hidden[i] = (family_ == "gemma3" ? GeluTanh(hidden[i]) : Silu(hidden[i])) * other[i];
      }
      Add(prefix + "post_ffw_norm.weight", down * hidden, x);
    }
  }

  // What a sub-layer adds to the residual stream.
  void Add(const std::string& post_norm, Vector added, Vector& x) const {
    if (family_ == "gemma3") added = Normalized(added, ReadVector(post_norm));
    AddTo(x, added);
  }

  const GgufFile& file_;
  std::string family_;
  int layers_, heads_, kv_heads_, head_size_, rotary_;
  int window_ = 0;
  double epsilon_;
};

}  // namespace

PlainForward RunPlain(const std::string& path, std::span<const TokenId> tokens, const LayerSubset* subset) {
  const absl::StatusOr<GgufFile> file = GgufFile::Open(path);
  FORERUN_CHECK(file.ok());
  return PlainTransformer(*file).Run(tokens, subset);
}

std::vector<std::vector<double>> PlainLogits(const std::string& path, std::span<const TokenId> tokens,
                                             const LayerSubset* subset) {
  return RunPlain(path, tokens, subset).logits;
}

}  // namespace forerun
