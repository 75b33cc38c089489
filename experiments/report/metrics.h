// From records to numbers: one definition of each, and nothing here knows a file. A round is one target
// verification. Requests that ended in an error count in `errors` alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiments/report/bootstrap.h"
#include "experiments/run/records.h"

namespace forerun {

using Requests = std::vector<const LoggedRequest*>;

struct RoundCounts {
  int64_t rounds = 0;
  int64_t truncated = 0;       // an end token, stop string or length cut the verdict
  int64_t length_limited = 0;  // the node budget was cut below K
  int64_t empty_draft = 0;     // nothing was proposed
  int64_t drafted = 0;
  int64_t accepted = 0;
  int64_t emitted = 0;
};

struct TimeSplit {  // seconds over all rounds
  double draft = 0;
  double verify = 0;
  double sample = 0;
  double other = 0;
  double total() const { return draft + verify + sample + other; }
};

RoundCounts CountRounds(const Requests& requests);
TimeSplit SplitTime(const Requests& requests);

// 1 + accepted / rounds, over rounds neither truncated nor length-limited; nothing where there are none.
std::optional<double> Tau(const Requests& requests);
std::optional<double> TauRequestMean(const Requests& requests);  // mean of each request's own
std::optional<double> AcceptanceRate(const Requests& requests);  // accepted / drafted
std::optional<double> Coverage(const Requests& requests);        // rounds with a draft / rounds

// By position i = 1, 2, ..., over rounds that were not truncated.
struct Positions {
  std::vector<int64_t> proposed;  // rounds that proposed at least i in a row
  std::vector<double> survival;   // first i accepted / proposed i
  // first i accepted / (first i - 1 accepted and i proposed); nothing where no round got there
  std::vector<std::optional<double>> conditional;
};
Positions MeasurePositions(const Requests& requests);

std::optional<double> TokensPerSecond(const Requests& requests);  // emitted / decode_seconds, summed first
std::optional<double> MillisecondsPerRound(const Requests& requests);

// What the baseline would have needed for the same tokens, over what the arm needed: one term a prompt. The
// baseline's time per token is that of the runs that bracket the arm's. Prompts that lack one of them are
// left out.
std::vector<RatioTerm> SpeedupTerms(const Requests& arm, const Requests& baseline);

// The same against any other arm: its own time per token at each prompt that both have.
std::vector<RatioTerm> SpeedupTermsAgainst(const Requests& arm, const Requests& other);

// Requests whose output equals, id by id, the baseline's first run of that prompt.
struct Identity {
  int identical = 0;
  int compared = 0;
};
Identity CompareOutputs(const Requests& requests, const Requests& baseline);

// Draft seconds per drafted token over t(1), the baseline's verification time per round (concurrency 1).
std::optional<double> DraftCost(const Requests& arm, const Requests& baseline);
// The arm's verification time per round over t(1).
std::optional<double> VerifyCost(const Requests& arm, const Requests& baseline);

}  // namespace forerun
