#include <limits>
#include <memory>

#include "experiments/commands/checks.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/generate_options.h"
#include "experiments/commands/generation.h"

namespace forerun {
namespace {

void AddModelOptions(CLI::App* command, GenerateOptions* options) {
  command->add_option("--target", options->target, "The model: a path or a name under models/")->required();
  command->add_option("--draft", options->draft, "A smaller model with the same vocabulary that drafts");
  command->add_option("--drafter", options->drafter, "How to draft (see `forerun list drafters`)");
  command->add_option("--drafter-options", options->drafter_options,
                      "The drafter's own options, a JSON object");
  command->add_option("--draft-sample", options->draft_sample,
                      "How a draft model picks: greedy, sampled or coupled");
  command
      ->add_option("--num-speculative-tokens", options->num_speculative_tokens, "Most tokens drafted a round")
      ->check(IntegerFrom(0, 256));
  command->add_option("--rule", options->rule, "How drafts are verified (see `forerun list rules`)");
  command->add_option("--rule-options", options->rule_options, "The rule's parameters, a JSON object");
}

void AddSamplingOptions(CLI::App* command, GenerateOptions* options) {
  Sampling& sampling = options->sampling;
  command->add_option("--temperature", sampling.temperature, "0: the best token always")
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "0: off")->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "1: off")->capture_default_str();
  command->add_option("--min-p", sampling.min_p, "0: off")->capture_default_str();
  command->add_option("--repetition-penalty", sampling.repetition_penalty, "1: off")->capture_default_str();
  command->add_option("--presence-penalty", sampling.presence_penalty, "0: off")->capture_default_str();
  command->add_option("--frequency-penalty", sampling.frequency_penalty, "0: off")->capture_default_str();
  command->add_option("--seed", sampling.seed, "Key of all random numbers")
      ->check(IntegerFrom(0, std::numeric_limits<int64_t>::max()))
      ->capture_default_str();
}

void AddPromptOptions(CLI::App* command, GenerateOptions* options) {
  CLI::Option_group* prompt = command->add_option_group("Prompt", "exactly one of these");
  prompt->add_option("--prompt", options->prompt, "Raw text to continue");
  prompt->add_option("--chat", options->chat, "A message to answer; the model's chat template is applied");
  prompt->add_option("--prompt-file", options->prompt_file, "Raw text from a file; - reads standard input");
  prompt->require_option(1);
  command->add_option("--chat-template", options->chat_template,
                      "For --chat: auto (the default), chatml, gemma or llama3");
  command->add_option("--system", options->system, "System message for --chat");
}

}  // namespace

Command AddGenerateCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Continue a text or answer a message, and say how fast");
  auto options = std::make_shared<GenerateOptions>();
  AddModelOptions(command, options.get());
  AddPromptOptions(command, options.get());
  AddSamplingOptions(command, options.get());
  command->add_option("--max-new-tokens", options->max_new_tokens, "Most tokens to emit")
      ->check(IntegerFrom(1, kMostNewTokens))
      ->capture_default_str();
  command->add_flag("--ignore-end-tokens", options->ignore_end_tokens, "Go on after an end token");
  command->add_option("--stop", options->stop_strings, "Stop once the text contains this; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--exact", options->exact, "32-bit floats throughout");
  command->add_option("--threads", options->threads, "0: all cores")->check(IntegerFrom(0, kMostThreads));
  command->add_option("--kv-budget-mib", options->kv_budget_mib, "Memory for keys and values of both models")
      ->check(IntegerFrom(4, kMostMib))
      ->capture_default_str();
  CLI::Option* quiet =
      command->add_flag("--quiet", options->quiet, "Print the continuation's bytes and nothing else");
  command->add_flag("--json", options->json, "Print one JSON object instead of text")->excludes(quiet);
  command->add_flag("--log-probs", options->log_probs,
                    "With --json: log-probabilities of the emitted tokens");
  command->footer(
      "Example:\n"
      "  forerun generate --target qwen2.5-coder-1.5b-instruct-q4_k_m --draft "
      "qwen2.5-coder-0.5b-instruct-q4_k_m \\\n"
      "    --chat \"Write a C++ function that reverses a string.\"");
  return {command, [options, command] {
            GenerateOptions given = *options;
            given.has_prompt = command->count("--prompt") > 0;
            given.has_chat = command->count("--chat") > 0;
            return Generate(given);
          }};
}

}  // namespace forerun
