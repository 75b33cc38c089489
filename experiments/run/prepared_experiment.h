// A config made ready to run: prompts read and tokenised, models loaded, one drafter and one rule an arm.
// Whatever can be wrong with a config is found here, before the first request.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/engine/engine.h"
#include "experiments/config/config.h"
#include "experiments/run/machine.h"
#include "experiments/texts/prompts.h"

namespace forerun {

struct PreparedPrompt {
  Prompt prompt;
  std::vector<TokenId> tokens;
  std::vector<TokenId> prediction;  // empty: unknown
};

struct PreparedArm {
  std::unique_ptr<Drafter> drafter;  // null where the arm does not draft
  std::unique_ptr<Verifier> rule;
  // Of the drafter: option and path.
  std::vector<std::pair<std::string, std::string>> drafter_files;
};

struct PreparedExperiment {
  ExperimentConfig config;
  std::string prompt_file;
  std::unique_ptr<Machine> machine;  // outlives the models, which outlive the drafters
  ModelPair models;
  std::vector<PreparedPrompt> prompts;
  std::vector<PreparedArm> arms;  // as in config.arms

  // Its id, the key of its random numbers, is the same in every arm and repetition.
  Request MakeRequest(int prompt, int arm) const;
};

// `limit`: the first prompts only; 0: all.
absl::StatusOr<PreparedExperiment> PrepareExperiment(const ExperimentConfig& config, int limit);

// Ids of a text as the prompt format says.
absl::StatusOr<std::vector<TokenId>> EncodePrompt(const Tokenizer& tokenizer, PromptFormat format,
                                                  const std::string& chat_template, const std::string& system,
                                                  const std::string& text);

}  // namespace forerun
