// The real model: a decoder-only transformer of any supported architecture, on one machine's kernels.
#pragma once

#include <memory>
#include <vector>

#include "core/formats/gguf_file.h"
#include "core/model/architecture.h"
#include "core/model/backbone.h"
#include "core/model/forward_plan.h"
#include "core/model/fusion.h"
#include "core/model/model.h"
#include "core/model/numerics.h"
#include "core/model/product_input.h"
#include "core/model/rope_table.h"
#include "core/model/weights.h"
#include "kernels/kernels.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

// A matrix that a forward multiplies its rows by.
struct ModelMatrix {
  TensorType type = TensorType::kF32;
  int64_t outputs = 0, columns = 0;
  bool a8 = false;  // by the a8 product, else by the f32 one

  int64_t packed_bytes() const { return static_cast<int64_t>(PackedBytes(type, outputs, columns)); }
  int64_t multiply_adds() const { return outputs * columns; }  // of one row
};

class Transformer final : public Model, public Backbone {
 public:
  // `kernels` and `threads` outlive the model. `file` stays mapped: the embedding's rows are read from it.
  Transformer(GgufFile file, ModelConfig config, ModelWeights weights, Numerics numerics, int layout_id,
              const KvLayout& layout, const Kernels& kernels, ThreadPool& threads);

  int vocab_size() const override { return config_.vocab_size; }
  int context_length() const override { return config_.context_length; }
  int num_layers() const override { return config_.layers; }
  int kv_layout_id() const override { return layout_id_; }
  absl::StatusOr<ForwardResult> Forward(const ForwardBatch& batch) override;
  Counters counters() const override { return counters_; }
  // Every matrix, each read once by a forward; the last is the head, which only rows with an output meet.
  std::vector<ModelMatrix> matrices() const;
  // Changes no bit of any result.
  void SetFusion(const Fusion& fusion) { fusion_ = fusion; }
  std::shared_ptr<const Shortlist> MakeShortlist(std::vector<TokenId> ids) override;

  Backbone* backbone() override { return this; }
  int width() const override { return config_.width; }
  int layers() const override { return config_.layers; }
  void Embed(std::span<const TokenId> tokens, float* x) const override;
  absl::StatusOr<std::vector<RowOutput>> HeadOutputs(std::span<const float> hidden,
                                                     std::span<const ForwardRow> rows) override;
  const Kernels& kernels() const override { return kernels_; }
  ThreadPool& threads() const override { return threads_; }

 private:
  // The rows on their way through the layers, reused from call to call.
  struct Activations {
    std::vector<float> stream;            // [rows, width]: the residual stream
    ProductInput normed;                  // [rows, width]
    std::vector<float> q, k, v;           // [rows, heads or kv_heads * head_size]
    ProductInput attended;                // [rows, heads * head_size]
    std::vector<float> partials, scores;  // of attention: its workspaces
    std::vector<int32_t> arrivals;        // of attention: AttentionCodesArgs; zero
    ProductInput hidden;                  // [rows, ffn_width]: the gate, then activation(gate) * up
    std::vector<float> up;                // [rows, ffn_width]
    std::vector<float> added;             // [rows, width]: what a sub-layer adds to the stream
    std::vector<float> logits;            // [wanted rows, slices of the vocabulary]
  };

  void Resize(int rows);
  absl::Status CheckTaps(const ForwardBatch& batch) const;
  void KeepTap(const ForwardBatch& batch, int tap, ForwardResult& result);
  void Attend(int layer, const ForwardPlan& plan);
  void FeedForward(int layer);
  absl::Status Head(const ForwardBatch& batch, const ForwardPlan& plan, ForwardResult& result);
  // The logits of the wanted rows, whose normed states are the first rows of act_.normed.
  absl::Status Logits(const ForwardBatch& batch, const ForwardPlan& plan, ForwardResult& result);
  absl::Status NotFinite(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output,
                         int64_t outputs, int64_t stride) const;
  void OfferPiece(const Shortlist* shortlist, const float* logits, int64_t first_output, int64_t outputs,
                  int64_t piece, int64_t best, int top_k, std::vector<ScoredToken>& list) const;
  void CollectLogits(const Shortlist* shortlist, const float* logits, int64_t first_output, int64_t outputs,
                     std::vector<float>& all) const;
  void ReduceLogits(const ForwardBatch& batch, const ForwardPlan& plan, int64_t first_output, int64_t outputs,
                    int64_t slices, const std::vector<int32_t>& best, std::vector<double>& log_sum_exp,
                    ForwardResult& result);

  // input.x = norm(x), with codes for products with `users`.
  void NormalizeFor(std::initializer_list<const LinearWeights*> users, const std::vector<float>& x,
                    const std::vector<float>& gain, int64_t rows, bool fused, ProductInput& input);
  void Prepare(std::initializer_list<const LinearWeights*> users, int64_t rows, int64_t columns,
               ProductInput& input) const;
  void Quantize(ProductInput& input);
  void Normalize(float* x, const std::vector<float>& gain, int64_t rows, int64_t columns);
  // The product of the input with the weights (+ bias), into y.
  MatmulArgs Product(const LinearWeights& weights, const ProductInput& input, int64_t rows, float* y,
                     int64_t y_stride) const;
  KernelFn<MatmulArgs> MatmulFor(const LinearWeights& weights) const;
  void Multiply(const LinearWeights& weights, const MatmulArgs& product);
  int64_t Grain(int64_t units, int64_t unit_bytes) const;  // of a product, for the thread pool
  void Count(const LinearWeights& weights);
  void MultiplyIntoStream(const LinearWeights& weights, const ProductInput& input,
                          const std::vector<float>& post_norm);
  // Each row over its context: act_.q to act_.attended, with codes.
  void LookAround(AttentionArgs args, int64_t tiles);
  void LookAroundUnfused(AttentionArgs args, int64_t tiles);
  RopeArgs Rope(const ForwardPlan& plan, bool global) const;
  void QueryKeyValue(const LayerWeights& w, const RopeArgs& rope, const KvStoreArgs& store);
  void QueryKeyValueUnfused(const LayerWeights& w, const RopeArgs& rope, const KvStoreArgs& store);
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
  Fusion fusion_;
  int rows_ = 0;  // of the current forward
  Counters counters_;
};

}  // namespace forerun
