#include "tests/support/plain_heads.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace forerun {
namespace {

PlainVector Read(const SafetensorsFile& file, const std::string& name) {
  const SafetensorsTensor* tensor = file.FindTensor(name);
  FORERUN_CHECK(tensor != nullptr);
  const std::vector<float> values = *file.Floats(*tensor);
  return {values.begin(), values.end()};
}

double Silu(double x) { return x / (1 + std::exp(-x)); }

void AddTo(PlainVector& x, const PlainVector& y) {
  FORERUN_CHECK(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

PlainVector Joined(PlainVector left, const PlainVector& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

PlainVector PlainProduct(const SafetensorsFile& file, const std::string& name, const PlainVector& x) {
  const PlainVector matrix = Read(file, name);
  FORERUN_CHECK(matrix.size() % x.size() == 0);
  PlainVector y;
  for (auto row = matrix.begin(); row != matrix.end(); row += x.size()) {
    y.push_back(std::inner_product(x.begin(), x.end(), row, 0.0));
  }
  return y;
}

PlainVector PlainBlock(const SafetensorsFile& file, const std::string& block, const PlainVector& x) {
  PlainVector y = PlainProduct(file, block + ".weight", x);
  AddTo(y, Read(file, block + ".bias"));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + Silu(y[i]);
  return y;
}

PlainVector PlainEagle::Normed(const PlainVector& x, const std::string& name) const {
  const PlainVector gain = Read(file_, name);
  const double mean = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / x.size();
  PlainVector y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i] / std::sqrt(mean + options_.epsilon) * gain[i]);
  return y;
}

PlainVector PlainEagle::Feature(const std::vector<PlainVector>& states) const {
  PlainVector joined;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::string norm = absl::StrCat("fc_norm.", i, ".weight");
    joined = Joined(joined, file_.FindTensor(norm) == nullptr ? states[i] : Normed(states[i], norm));
  }
  if (file_.FindTensor("input_norm.weight") != nullptr) joined = Normed(joined, "input_norm.weight");
  return PlainProduct(file_, "fc.weight", joined);
}

// One head of a projection, turned by the position (q and k): HF's rotate_half.
PlainVector PlainEagle::Head(const PlainVector& input, const std::string& name, int head,
                             std::size_t position) const {
  const PlainVector all =
      PlainProduct(file_, absl::StrCat(options_.layer, ".self_attn.", name, ".weight"), input);
  const int size = options_.head_size;
  PlainVector x(all.begin() + head * size, all.begin() + (head + 1) * size);
  if (name == "v_proj") return x;
  PlainVector turned(size);
  for (int i = 0; i < size; ++i) {
    const int pair = i % (size / 2);
    const double angle = position * std::pow(options_.rope_base, -2.0 * pair / size);
    const double other = i < size / 2 ? -x[i + size / 2] : x[i - size / 2];
    turned[i] = x[i] * std::cos(angle) + other * std::sin(angle);
  }
  return turned;
}

PlainVector PlainEagle::Attended(const std::vector<PlainVector>& inputs, std::size_t row) const {
  PlainVector joined;
  for (int head = 0; head < options_.heads; ++head) {
    const int kv_head = head / (options_.heads / options_.kv_heads);
    const PlainVector q = Head(inputs[row], "q_proj", head, row);
    PlainVector weights, mixed(options_.head_size, 0.0);
    for (std::size_t at = 0; at <= row; ++at) {
      const PlainVector k = Head(inputs[at], "k_proj", kv_head, at);
      weights.push_back(std::exp(std::inner_product(q.begin(), q.end(), k.begin(), 0.0) /
                                 std::sqrt(static_cast<double>(options_.head_size))));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t at = 0; at <= row; ++at) {
      const PlainVector v = Head(inputs[at], "v_proj", kv_head, at);
      for (int i = 0; i < options_.head_size; ++i) mixed[i] += weights[at] / sum * v[i];
    }
    joined = Joined(joined, mixed);
  }
  return PlainProduct(file_, options_.layer + ".self_attn.o_proj.weight", joined);
}

std::vector<PlainEagle::Row> PlainEagle::Run(const std::vector<PlainVector>& features,
                                             const std::vector<PlainVector>& embeddings) const {
  std::vector<PlainVector> inputs, streams;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (options_.eagle3) {
      const PlainVector normed = Normed(features[i], options_.layer + ".hidden_norm.weight");
      inputs.push_back(Joined(Normed(embeddings[i], options_.layer + ".input_layernorm.weight"), normed));
      streams.push_back(options_.norm_before_residual ? normed : features[i]);
    } else {
      PlainVector x = PlainProduct(file_, "fc.weight", Joined(embeddings[i], features[i]));
      if (file_.FindTensor("fc.bias") != nullptr) AddTo(x, Read(file_, "fc.bias"));
      inputs.push_back(x);
      streams.push_back(x);
    }
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < features.size(); ++i) {
    PlainVector& x = streams[i];
    AddTo(x, Attended(inputs, i));
    const PlainVector normed = Normed(x, options_.layer + ".post_attention_layernorm.weight");
    PlainVector hidden = PlainProduct(file_, options_.layer + ".mlp.gate_proj.weight", normed);
    const PlainVector up = PlainProduct(file_, options_.layer + ".mlp.up_proj.weight", normed);
    for (std::size_t j = 0; j < hidden.size(); ++j) hidden[j] = Silu(hidden[j]) * up[j];
    AddTo(x, PlainProduct(file_, options_.layer + ".mlp.down_proj.weight", hidden));
    const PlainVector last = options_.eagle3 ? Normed(x, "norm.weight") : x;
    rows.push_back(
        {options_.eagle3 && options_.norm_before_head ? last : x, options_.feed_back_normed ? last : x});
  }
  return rows;
}

}  // namespace forerun
