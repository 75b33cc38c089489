// What `forerun generate` is asked, as plain values.
#pragma once

#include <string>
#include <vector>

#include "core/sampling/sampling.h"

namespace forerun {

struct GenerateOptions {
  std::string target;
  std::string draft;
  std::string drafter;              // empty: draft_model with --draft, else none
  std::string drafter_options;      // JSON object merged into the drafter's
  std::string draft_sample;         // empty: the drafter's default
  std::string rule;                 // empty: greedy at temperature 0, else rejection
  std::string rule_options;         // JSON object, or empty
  int num_speculative_tokens = -1;  // -1: the default
  Sampling sampling;
  int max_new_tokens = 128;
  bool ignore_end_tokens = false;
  std::vector<std::string> stop_strings;
  std::string prompt, chat, prompt_file;  // exactly one is given
  bool has_prompt = false, has_chat = false;
  std::string chat_template;  // empty: auto
  std::string system;
  bool exact = false;
  int threads = 0;
  int kv_budget_mib = 512;
  bool quiet = false;
  bool json = false;
  bool log_probs = false;
};

}  // namespace forerun
