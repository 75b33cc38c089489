// What a head borrows of a model, without the model.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/backbone.h"

namespace forerun {

// The embedding and head of no model at all: plain loops over random or given matrices.
class PlainBackbone final : public Backbone {
 public:
  PlainBackbone(int vocab, int width, int layers, uint32_t seed);
  PlainBackbone(std::vector<float> embedding, std::vector<float> head, int width, int layers);

  int width() const override { return width_; }
  int layers() const override { return layers_; }
  void Embed(std::span<const TokenId> tokens, float* x) const override;
  // kFull and kArgmax alone.
  absl::StatusOr<std::vector<RowOutput>> HeadOutputs(std::span<const float> hidden,
                                                     std::span<const ForwardRow> rows) override;
  const Kernels& kernels() const override { return kernels_; }
  ThreadPool& threads() const override { return threads_; }

  const std::vector<float>& embedding() const { return embedding_; }  // [vocab, width]
  const std::vector<float>& head() const { return head_; }            // [vocab, width]

 private:
  std::vector<float> embedding_, head_;
  int width_, layers_;
  Kernels kernels_{DetectIsa()};
  mutable ThreadPool threads_{2};
};

// Numbers of about `scale`, the same for the same seed.
std::vector<float> RandomFloats(std::size_t count, double scale, uint32_t seed);

}  // namespace forerun
