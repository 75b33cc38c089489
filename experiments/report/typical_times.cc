#include "experiments/report/typical_times.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/base/median.h"

namespace forerun {
namespace {

constexpr int kContextStep = 64;
constexpr double kFreeDraft = 0.02;  // of a plain round

// Time by kind of round: collect all, then ask.
template <class Kind>
class Typical {
 public:
  void Add(const Kind& kind, double seconds) { seen_[kind].push_back(seconds); }
  void Settle() {
    for (const auto& [kind, seconds] : seen_) median_[kind] = Median(seconds);
  }
  double operator[](const Kind& kind) const { return median_.at(kind); }

 private:
  std::map<Kind, std::vector<double>> seen_;
  std::map<Kind, double> median_;
};

using VerifyKind = std::tuple<int, int>;             // rows, steps of context
using ArmKind = std::tuple<std::string, int, bool>;  // arm, drafted tokens, whether the draft cost anything

VerifyKind VerifyKindOf(const RoundRecord& round) {
  return {round.batch_rows, round.committed / kContextStep};
}

// The median verification of one row, of all rounds where none had but one.
double PlainSeconds(const RunRecords& records) {
  std::vector<double> plain, all;
  for (const LoggedRequest& request : records.requests) {
    for (const RoundRecord& round : request.rounds) {
      all.push_back(round.verify_seconds);
      if (round.batch_rows == 1) plain.push_back(round.verify_seconds);
    }
  }
  if (all.empty()) return 0;
  return Median(plain.empty() ? all : plain);
}

}  // namespace

absl::Status UseTypicalTimes(RunRecords& records) {
  const double free_draft = kFreeDraft * PlainSeconds(records);
  const auto kind_of = [free_draft](const LoggedRequest& request, const RoundRecord& round) {
    return ArmKind{request.row.arm, round.drafted, round.draft_seconds > free_draft};
  };
  Typical<VerifyKind> verify;
  Typical<ArmKind> draft, sample, other;
  for (const LoggedRequest& request : records.requests) {
    for (const RoundRecord& round : request.rounds) {
      if (round.batch_sequences > 1) {
        return absl::InvalidArgumentError(
            absl::StrCat(request.row.unit, ", round ", round.round,
                         ": typical times expect one sequence in a forward, found ", round.batch_sequences));
      }
      verify.Add(VerifyKindOf(round), round.verify_seconds);
      const ArmKind kind = kind_of(request, round);
      draft.Add(kind, round.draft_seconds);
      sample.Add(kind, round.sample_seconds);
      other.Add(kind, round.other_seconds);
    }
  }
  verify.Settle();
  for (Typical<ArmKind>* times : {&draft, &sample, &other}) times->Settle();
  for (LoggedRequest& request : records.requests) {
    request.row.decode_seconds = 0;
    for (RoundRecord& round : request.rounds) {
      const ArmKind kind = kind_of(request, round);
      round.verify_seconds = verify[VerifyKindOf(round)];
      round.draft_seconds = draft[kind];
      round.sample_seconds = sample[kind];
      round.other_seconds = other[kind];
      request.row.decode_seconds += round.seconds();
    }
  }
  return absl::OkStatus();
}

}  // namespace forerun
