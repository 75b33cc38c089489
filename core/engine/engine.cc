#include "core/engine/engine.h"

#include <algorithm>
#include <deque>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/engine/engine_step.h"
#include "core/verify/registry.h"

namespace forerun {
namespace {

absl::Status CheckRequest(const Request& request, const Model& target) {
  const std::string where = absl::StrCat("request ", request.id, ": ");
  if (request.prompt.empty())
    return absl::InvalidArgumentError(where + "prompt: expected at least one token, found none");
  if (static_cast<int64_t>(request.prompt.size()) >= target.context_length()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, "prompt: expected fewer tokens than the context length ", target.context_length(),
                     ", found ", request.prompt.size()));
  }
  for (const TokenId token : request.prompt) {
    if (token < 0 || token >= target.vocab_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, "prompt: expected ids from 0 to ", target.vocab_size() - 1, ", found ", token));
    }
  }
  if (request.max_new_tokens < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, "max_new_tokens: expected at least 1, found ", request.max_new_tokens));
  }
  if (request.num_speculative_tokens < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, "num_speculative_tokens: expected at least 0, found ", request.num_speculative_tokens));
  }
  if (request.verifier == nullptr)
    return absl::InvalidArgumentError(where + "verifier: expected a rule, found none");
  if (!request.stop_strings.empty() && request.tokenizer == nullptr) {
    return absl::InvalidArgumentError(where + "stop_strings: expected a tokenizer with them, found none");
  }
  for (const std::string& stop : request.stop_strings) {
    if (stop.empty())
      return absl::InvalidArgumentError(where + "stop_strings: expected text, found an empty string");
  }
  FORERUN_RETURN_IF_ERROR(Validate(request.sampling, target.vocab_size()));
  return CheckPairing(*request.verifier, KindOfDrafts(request.drafter, request.sampling), request.sampling);
}

}  // namespace

struct Engine::State {
  State(Model& target, KvPool& pool, const EngineOptions& options)
      : target(target), pool(pool), options(options) {}

  bool InUse(uint64_t id) const {
    const auto same = [id](const std::unique_ptr<Sequence>& sequence) {
      return sequence->request().id == id;
    };
    return std::any_of(active.begin(), active.end(), same) ||
           std::any_of(waiting.begin(), waiting.end(), same);
  }

  // Moves sequences in from the queue, in order of arrival.
  absl::Status Admit() {
    while (!waiting.empty() && static_cast<int>(active.size()) < options.max_sequences) {
      std::unique_ptr<Sequence> sequence = std::move(waiting.front());
      waiting.pop_front();
      if (sequence->speculates()) {
        FORERUN_ASSIGN_OR_RETURN(sequence->drafter_state, sequence->request().drafter->Open());
      }
      active.push_back(std::move(sequence));
    }
    return absl::OkStatus();
  }

  void CollectFinished(std::vector<RequestResult>& finished) {
    for (auto& sequence : active) {
      if (sequence->finished()) {
        finished.push_back(sequence->TakeResult());
        sequence.reset();
      }
    }
    std::erase(active, nullptr);
  }

  Model& target;
  KvPool& pool;
  EngineOptions options;
  std::deque<std::unique_ptr<Sequence>> waiting;
  std::vector<std::unique_ptr<Sequence>> active;
};

Engine::Engine(Model& target, KvPool& pool, const EngineOptions& options)
    : state_(std::make_unique<State>(target, pool, options)) {}

Engine::~Engine() = default;

absl::Status Engine::Add(Request request) {
  FORERUN_RETURN_IF_ERROR(CheckRequest(request, state_->target));
  if (state_->InUse(request.id)) {
    return absl::InvalidArgumentError(
        absl::StrCat("request ", request.id, ": expected an id that is not in use"));
  }
  state_->waiting.push_back(std::make_unique<Sequence>(
      std::move(request), state_->pool, state_->target.kv_layout_id(), state_->target.context_length()));
  return absl::OkStatus();
}

bool Engine::idle() const { return state_->waiting.empty() && state_->active.empty(); }

absl::StatusOr<StepResult> Engine::Step() {
  StepResult result;
  FORERUN_RETURN_IF_ERROR(state_->Admit());
  EngineStep step(state_->target, state_->options);
  step.Plan(state_->active);
  FORERUN_RETURN_IF_ERROR(step.Propose());
  step.Place();
  FORERUN_RETURN_IF_ERROR(step.Forward());
  step.VerifyAndCommit(result);
  state_->CollectFinished(result.finished);
  return result;
}

absl::StatusOr<std::vector<RequestResult>> RunToCompletion(Engine& engine) {
  std::vector<RequestResult> results;
  while (!engine.idle()) {
    FORERUN_ASSIGN_OR_RETURN(StepResult step, engine.Step());
    for (RequestResult& result : step.finished) results.push_back(std::move(result));
  }
  return results;
}

}  // namespace forerun
