#include "experiments/lossless/signature.h"

#include <map>
#include <memory>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "core/model/table_model.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

constexpr int kVocab = 16;
constexpr int kRequests = 4;
constexpr int kNewTokens = 32;

// 64-bit FNV-1a, over little-endian bytes.
class Hash {
 public:
  void Add(uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (value >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

struct NamedSampling {
  const char* name;
  Sampling sampling;
};

std::vector<NamedSampling> Samplings(uint64_t seed) {
  return {{"greedy", {.seed = seed}},
          {"temperature 1", {.temperature = 1, .seed = seed}},
          {"warped",
           {.temperature = 0.7f,
            .top_k = 9,
            .top_p = 0.9f,
            .min_p = 0.02f,
            .repetition_penalty = 1.1f,
            .presence_penalty = 0.25f,
            .seed = seed}}};
}

// Requests that start at different times and lengths: they share batches, and the last ones wait for room.
std::vector<Request> Requests(Drafter& drafter, const Verifier& rule, const Sampling& sampling) {
  std::vector<Request> requests;
  for (int id = 0; id < kRequests; ++id) {
    Request request;
    request.id = id;
    for (int i = 0; i <= 2 + 5 * id; ++i) request.prompt.push_back((3 * i + i * i * id) % kVocab);
    for (int i = 0; i < kNewTokens; ++i) request.prediction.push_back((5 * i + i * i * id) % kVocab);
    request.drafter = &drafter;
    request.verifier = &rule;
    request.num_speculative_tokens = 2 + id;
    request.sampling = sampling;
    request.max_new_tokens = kNewTokens;
    requests.push_back(std::move(request));
  }
  return requests;
}

class SignatureRun {
 public:
  SignatureRun(std::unique_ptr<KvPool> pool, uint64_t seed)
      : seed_(seed),
        pool_(std::move(pool)),
        target_(*pool_, ContextTable::Random(kVocab, 2, seed, /*zeros=*/true)),
        draft_(*pool_, ContextTable::Random(kVocab, 1, seed + 1)) {}

  // Every kind of draft sampling that the drafter knows.
  absl::Status AddDrafter(const DrafterInfo& info) {
    for (const char* sample : {"", "sampled", "coupled"}) {
      Json options = {{"type", info.key}};
      if (*sample != '\0') options["sample"] = sample;
      const absl::StatusOr<std::unique_ptr<Drafter>> drafter =
          MakeDrafter(options, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
      if (!drafter.ok() && *sample != '\0') continue;              // it has no such option
      if (absl::IsFailedPrecondition(drafter.status())) continue;  // it needs a file
      FORERUN_RETURN_IF_ERROR(drafter.status());
      const std::string name = absl::StrCat(info.key, *sample == '\0' ? "" : " ", sample);
      for (const RuleInfo& rule : ListRules()) FORERUN_RETURN_IF_ERROR(AddRule(name, **drafter, rule));
    }
    return absl::OkStatus();
  }

  std::vector<SignaturePart> TakeParts() { return std::move(parts_); }

 private:
  absl::Status AddRule(const std::string& drafter_name, Drafter& drafter, const RuleInfo& info) {
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> rule, MakeRule(info.name));
    for (const NamedSampling& named : Samplings(seed_)) {
      if (!CheckPairing(*rule, KindOfDrafts(&drafter, named.sampling), named.sampling).ok()) continue;
      FORERUN_ASSIGN_OR_RETURN(const uint64_t hash, Play(Requests(drafter, *rule, named.sampling)));
      parts_.push_back({absl::StrCat(drafter_name, ", ", info.name, ", ", named.name), hash});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<uint64_t> Play(std::vector<Request> requests) {
    Engine engine(target_, *pool_, {.max_sequences = 3, .max_batch_rows = 24, .prefill_chunk = 8});
    for (Request& request : requests) FORERUN_RETURN_IF_ERROR(engine.Add(std::move(request)));
    std::map<std::tuple<uint64_t, int>, RoundRecord> rounds;  // by request and round
    while (!engine.idle()) {
      FORERUN_ASSIGN_OR_RETURN(StepResult step, engine.Step());
      for (const RequestResult& result : step.finished) FORERUN_RETURN_IF_ERROR(result.status);
      for (RoundRecord& record : step.rounds) rounds[{record.request, record.round}] = std::move(record);
    }
    Hash hash;
    for (const auto& [key, record] : rounds) {
      hash.Add(record.request);
      hash.Add(record.drafted);
      hash.Add(record.accepted);
      for (const TokenId token : record.emitted) hash.Add(token);
    }
    return hash.value();
  }

  uint64_t seed_;
  std::unique_ptr<KvPool> pool_;
  TableModel target_, draft_;
  std::vector<SignaturePart> parts_;
};

}  // namespace

absl::StatusOr<std::vector<SignaturePart>> SignatureParts(uint64_t seed) {
  FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<KvPool> pool,
                           KvPool::Create({.budget_bytes = 4 << 20, .slab_bytes = 1 << 16}));
  SignatureRun run(std::move(pool), seed);
  for (const DrafterInfo& info : ListDrafters()) FORERUN_RETURN_IF_ERROR(run.AddDrafter(info));
  return run.TakeParts();
}

std::string HashText(uint64_t hash) { return absl::StrFormat("%016x", hash); }

std::string SignatureOf(const std::vector<SignaturePart>& parts) {
  Hash hash;
  for (const SignaturePart& part : parts) hash.Add(part.hash);
  return HashText(hash.value());
}

}  // namespace forerun
