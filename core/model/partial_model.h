// A model whose every forward runs one subset of its layers, in pages of its own.
#pragma once

#include <utility>

#include "core/model/layer_subset.h"
#include "core/model/model.h"

namespace forerun {

class PartialModel final : public Model {
 public:
  // `model` outlives this.
  PartialModel(Model& model, LayerSubset subset) : model_(model), subset_(std::move(subset)) {}
  int vocab_size() const override { return model_.vocab_size(); }
  int context_length() const override { return model_.context_length(); }
  int num_layers() const override { return model_.num_layers(); }
  int kv_layout_id() const override { return model_.kv_layout_id(); }
  Counters counters() const override { return model_.counters(); }
  absl::StatusOr<ForwardResult> Forward(const ForwardBatch& batch) override {
    ForwardBatch partial = batch;
    partial.layers = &subset_;
    return model_.Forward(partial);
  }

 private:
  Model& model_;
  LayerSubset subset_;
};

}  // namespace forerun
