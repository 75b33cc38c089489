// The real model: a decoder-only transformer of any supported architecture, on one machine's kernels.
#pragma once

#include <memory>
#include <vector>

#include "core/formats/gguf_file.h"
#include "core/model/architecture.h"
#include "core/model/forward_plan.h"
#include "core/model/model.h"
#include "core/model/numerics.h"
#include "core/model/rope_table.h"
#include "core/model/weights.h"
#include "kernels/kernels.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

class Transformer final : public Model {
 public:
  // `kernels` and `threads` outlive the model. `file` stays mapped: the embedding's rows are read from it.
  Transformer(GgufFile file, ModelConfig config, ModelWeights weights, Numerics numerics, int layout_id,
              const KvLayout& layout, const Kernels& kernels, ThreadPool& threads);

  int vocab_size() const override { return config_.vocab_size; }
  int context_length() const override { return config_.context_length; }
  int kv_layout_id() const override { return layout_id_; }
  absl::StatusOr<ForwardResult> Forward(const ForwardBatch& batch) override;
  Counters counters() const override { return counters_; }

 private:
  // The rows on their way through the layers, reused from call to call.
  struct Activations {
    std::vector<float> stream;    // [rows, width]: the residual stream
    std::vector<float> normed;    // [rows, width]
    std::vector<float> q, k, v;   // [rows, heads or kv_heads * head_size]
    std::vector<float> attended;  // [rows, heads * head_size]
    std::vector<float> gate, up;  // [rows, ffn_width]
    std::vector<float> added;     // [rows, width]: what a sub-layer adds to the stream
    std::vector<int8_t> codes;    // [rows, widest]: the quantised input of the next matmul
    std::vector<float> scales;    // [rows, widest / 32]
    std::vector<int32_t> sums;    // [rows, widest / 16]
    std::vector<float> logits;    // [wanted rows, slices of the vocabulary]
  };

  void Resize(int rows);
  void Embed(const ForwardBatch& batch);
  void Attend(int layer, const ForwardPlan& plan);
  void FeedForward(int layer);
  absl::Status Head(const ForwardBatch& batch, const ForwardPlan& plan, ForwardResult& result);
  absl::Status CheckFinite(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output,
                           int64_t outputs, int64_t stride) const;
  void ReduceLogits(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output, int64_t outputs,
                    int64_t slices, std::vector<double>& log_sum_exp, ForwardResult& result);

  void Normalize(const std::vector<float>& x, const std::vector<float>& gain, int64_t rows, int64_t columns,
                 std::vector<float>& y);
  // Rounds `x` to int8 where one of `users` wants it so.
  void Quantize(const std::vector<float>& x, int64_t rows, int64_t columns,
                std::initializer_list<const LinearWeights*> users);
  // y = x * w (+ bias); x is what Quantize was last given.
  void Multiply(const LinearWeights& weights, const std::vector<float>& x, int64_t rows, float* y,
                int64_t y_stride);
  void AddToStream(const std::vector<float>& post_norm);
  void Rotate(std::vector<float>& x, int heads, const ForwardPlan& plan, bool global);
  bool UsesCodes(const LinearWeights& weights) const;

  GgufFile file_;
  ModelConfig config_;
  ModelWeights weights_;
  Numerics numerics_;
  int layout_id_;
  KvLayout layout_;
  const Kernels& kernels_;
  ThreadPool& threads_;
  RopeTable global_rope_, local_rope_;
  Activations act_;
  int rows_ = 0;  // of the current forward
  Counters counters_;
};

}  // namespace forerun
