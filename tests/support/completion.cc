#include "tests/support/completion.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"

namespace forerun {

std::unique_ptr<Drafter> MakeDrafterOrDie(absl::string_view json, const DrafterResources& resources) {
  const absl::StatusOr<Json> options = ParseJson(json, "test");
  FORERUN_CHECK(options.ok());
  absl::StatusOr<std::unique_ptr<Drafter>> drafter = MakeDrafter(*options, resources);
  if (!drafter.ok()) ADD_FAILURE() << drafter.status();
  FORERUN_CHECK(drafter.ok());
  return *std::move(drafter);
}

std::vector<Completion> CompleteAll(Model& target, KvPool& pool, std::vector<Request> requests,
                                    const EngineOptions& options) {
  Engine engine(target, pool, options);
  std::vector<uint64_t> ids;
  for (Request& request : requests) {
    ids.push_back(request.id);
    const absl::Status added = engine.Add(std::move(request));
    if (!added.ok()) ADD_FAILURE() << added;
  }
  std::vector<Completion> completions(ids.size());
  const auto of = [&](uint64_t id) -> Completion& {
    return completions[std::find(ids.begin(), ids.end(), id) - ids.begin()];
  };
  while (!engine.idle()) {
    absl::StatusOr<StepResult> step = engine.Step();
    if (!step.ok()) ADD_FAILURE() << step.status();
    FORERUN_CHECK(step.ok());
    for (RoundRecord& round : step->rounds) of(round.request).rounds.push_back(std::move(round));
    for (RequestResult& result : step->finished) of(result.id).result = std::move(result);
  }
  return completions;
}

Completion Complete(Model& target, KvPool& pool, Request request, const EngineOptions& options) {
  std::vector<Request> requests;
  requests.push_back(std::move(request));
  return std::move(CompleteAll(target, pool, std::move(requests), options).front());
}

std::vector<RequestResult> CompleteMany(Model& target, KvPool& pool, const Request& request, int count,
                                        const EngineOptions& options) {
  Engine engine(target, pool, options);
  for (int id = 0; id < count; ++id) {
    Request next = request;
    next.id = id;
    EXPECT_TRUE(engine.Add(std::move(next)).ok());
  }
  absl::StatusOr<std::vector<RequestResult>> results = RunToCompletion(engine);
  EXPECT_TRUE(results.ok()) << results.status();
  FORERUN_CHECK(results.ok());
  return *std::move(results);
}

std::string CheckRecords(const Request& request, const Completion& completion) {
  std::vector<TokenId> emitted;
  int64_t drafted = 0, accepted = 0;
  for (std::size_t i = 0; i < completion.rounds.size(); ++i) {
    const RoundRecord& round = completion.rounds[i];
    const bool last = i + 1 == completion.rounds.size();
    if (round.round != static_cast<int>(i)) return absl::StrCat("round ", i, " calls itself ", round.round);
    if (round.committed != static_cast<int>(request.prompt.size() + emitted.size())) {
      return absl::StrCat("round ", i, ": committed ", round.committed);
    }
    if (round.drafted > round.budget || round.budget > request.num_speculative_tokens)
      return "more drafted than allowed";
    if (round.accepted > round.max_depth) return "more accepted than the tree is deep";
    if (round.truncated > 0 && !last) return "truncated before the end";
    const int whole = round.truncated == 0 ? round.accepted + 1 : static_cast<int>(round.emitted.size());
    if (static_cast<int>(round.emitted.size()) != whole)
      return absl::StrCat("round ", i, ": emitted is not accepted + 1");
    emitted.insert(emitted.end(), round.emitted.begin(), round.emitted.end());
    drafted += round.drafted;
    accepted += round.accepted;
  }
  const RequestResult& result = completion.result;
  if (emitted != result.output) return "the rounds' tokens are not the output";
  if (drafted != result.drafted || accepted != result.accepted)
    return "sums over rounds are not the result's";
  if (result.rounds != static_cast<int>(completion.rounds.size())) return "not every round has a record";
  if (static_cast<int>(emitted.size()) > request.max_new_tokens) return "longer than max_new_tokens";
  return "";
}

}  // namespace forerun
