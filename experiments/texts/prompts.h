// Prompt sets: JSON lines {"id" (or "question_id"), "category", "prompt" (or "turns", the first of which is
// used)}, and optionally "prediction".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/config/config.h"

namespace forerun {

struct Prompt {
  std::string id;  // unique in its file
  std::string category;
  std::string text;
  std::string prediction = {};  // what the answer may look like; empty: unknown
  uint64_t line = 0;  // its line in the file: the key of its random numbers, whatever else is selected
};

// Other members of a line are ignored: prompt sets carry references and sources. Errors name file and line.
absl::StatusOr<std::vector<Prompt>> ReadPromptFile(const std::string& path);

// The prompts of the config's categories, at most per_category of each, going round the categories: so the
// first n are spread over all of them. InvalidArgument for a category that the file lacks.
absl::StatusOr<std::vector<Prompt>> SelectPrompts(const std::vector<Prompt>& prompts,
                                                  const PromptsConfig& config);

}  // namespace forerun
