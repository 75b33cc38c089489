// A chain of tokens written ahead by a model: the drafter behind `draft_model`, `layer_skip`, `early_exit`
// and `oracle`. Paper: Leviathan et al. 2023 (arXiv:2211.17192), Chen et al. 2023 (arXiv:2302.01318).
#pragma once

#include <memory>
#include <string>

#include "core/base/json.h"
#include "core/engine/drafter.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"
#include "drafters/reading/chain_reader.h"

namespace forerun {

// How the model's next token is chosen.
enum class DraftSampling {
  kGreedy,   // its best token: a point mass
  kSampled,  // a draw from its warped distribution q
  kCoupled,  // the same draw with the noise that the target's own draw at that position will use: where p and
             // q are alike both mostly fall on the same token
};

struct ModelChainOptions {
  std::string name;
  DraftSampling sampling = DraftSampling::kGreedy;
  // The chain ends before a token when the model gives its best token there less than this (temperature 1).
  // Decided on the distribution, before the draw: the proposals keep their law.
  double min_confidence = 0;
  std::shared_ptr<const Shortlist> shortlist = nullptr;  // words that the model may say; null: all
  // For self-drafting, on the target's own pages (ChainReader::Borrow). Null: the model has its own.
  LayerChoice choose_layers = nullptr;
  std::string note = "";  // beside that of the shortlist
};

// "sample", "min_confidence" and "shortlist".
absl::Status ReadChainOptions(ObjectReader& options, Model& model, ModelChainOptions* chain);

// The least output of the model that the next token can be chosen by.
WantedOutput WantedForChain(const DraftTask& task, const ModelChainOptions& options);
// Adds the next token of the task's chain by the output after it; false where the chain ends here.
bool ExtendChain(DraftTask& task, const RowOutput& output, const ModelChainOptions& options);

// `model` and `pool` outlive the drafter. Keeps one block table a sequence; a draft step is one forward over
// all sequences.
std::unique_ptr<Drafter> MakeModelChainDrafter(Model& model, KvPool& pool, ModelChainOptions options);

}  // namespace forerun
