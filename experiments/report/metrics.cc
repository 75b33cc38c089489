#include "experiments/report/metrics.h"

#include <algorithm>
#include <map>
#include <utility>

namespace forerun {
namespace {

bool Served(const LoggedRequest& request) { return request.row.error.empty(); }

// Calls `visit` for every round of every request that was served.
template <class Visit>
void ForEachRound(const Requests& requests, Visit visit) {
  for (const LoggedRequest* request : requests) {
    if (!Served(*request)) continue;
    for (const RoundRecord& round : request->rounds) visit(round);
  }
}

std::optional<double> Ratio(double numerator, double denominator) {
  if (denominator <= 0) return std::nullopt;
  return numerator / denominator;
}

// Prompt and repetition of a baseline run.
using BaselineRuns = std::map<std::pair<std::string, int>, const LoggedRequest*>;

BaselineRuns IndexBaseline(const Requests& baseline) {
  BaselineRuns runs;
  for (const LoggedRequest* request : baseline) {
    if (Served(*request)) runs[{request->row.prompt, request->row.repetition}] = request;
  }
  return runs;
}

}  // namespace

RoundCounts CountRounds(const Requests& requests) {
  RoundCounts counts;
  ForEachRound(requests, [&](const RoundRecord& round) {
    ++counts.rounds;
    counts.truncated += round.truncated > 0;
    counts.length_limited += round.length_limited;
    counts.empty_draft += round.drafted == 0;
    counts.drafted += round.drafted;
    counts.accepted += round.accepted;
    counts.emitted += static_cast<int64_t>(round.emitted.size());
  });
  return counts;
}

TimeSplit SplitTime(const Requests& requests) {
  TimeSplit split;
  ForEachRound(requests, [&](const RoundRecord& round) {
    split.draft += round.draft_seconds;
    split.verify += round.verify_seconds;
    split.sample += round.sample_seconds;
    split.other += round.other_seconds;
  });
  return split;
}

std::optional<double> Tau(const Requests& requests) {
  double rounds = 0;
  double accepted = 0;
  ForEachRound(requests, [&](const RoundRecord& round) {
    if (round.truncated > 0 || round.length_limited) return;
    rounds += 1;
    accepted += round.accepted;
  });
  if (rounds == 0) return std::nullopt;
  return 1 + accepted / rounds;
}

std::optional<double> TauRequestMean(const Requests& requests) {
  double sum = 0;
  double count = 0;
  for (const LoggedRequest* request : requests) {
    const std::optional<double> tau = Tau({request});
    if (!tau) continue;
    sum += *tau;
    count += 1;
  }
  return Ratio(sum, count);
}

std::optional<double> AcceptanceRate(const Requests& requests) {
  const RoundCounts counts = CountRounds(requests);
  return Ratio(static_cast<double>(counts.accepted), static_cast<double>(counts.drafted));
}

std::optional<double> Coverage(const Requests& requests) {
  const RoundCounts counts = CountRounds(requests);
  return Ratio(static_cast<double>(counts.rounds - counts.empty_draft), static_cast<double>(counts.rounds));
}

Positions MeasurePositions(const Requests& requests) {
  std::vector<double> proposed, accepted, reached;
  ForEachRound(requests, [&](const RoundRecord& round) {
    if (round.truncated > 0) return;
    const std::size_t depth = static_cast<std::size_t>(round.max_depth);
    if (proposed.size() < depth) {
      for (std::vector<double>* counts : {&proposed, &accepted, &reached}) counts->resize(depth);
    }
    for (std::size_t i = 0; i < depth; ++i) {
      const int position = static_cast<int>(i) + 1;
      proposed[i] += 1;
      accepted[i] += round.accepted >= position;
      reached[i] += round.accepted >= position - 1;
    }
  });
  Positions positions;
  for (std::size_t i = 0; i < proposed.size(); ++i) {
    positions.proposed.push_back(static_cast<int64_t>(proposed[i]));
    positions.survival.push_back(accepted[i] / proposed[i]);  // some round is that deep
    positions.conditional.push_back(Ratio(accepted[i], reached[i]));
  }
  return positions;
}

std::optional<double> TokensPerSecond(const Requests& requests) {
  double emitted = 0;
  double seconds = 0;
  for (const LoggedRequest* request : requests) {
    if (!Served(*request)) continue;
    emitted += static_cast<double>(request->row.emitted());
    seconds += request->row.decode_seconds;
  }
  return Ratio(emitted, seconds);
}

std::optional<double> MillisecondsPerRound(const Requests& requests) {
  return Ratio(SplitTime(requests).total() * 1e3, static_cast<double>(CountRounds(requests).rounds));
}

std::vector<RatioTerm> SpeedupTerms(const Requests& arm, const Requests& baseline) {
  const BaselineRuns runs = IndexBaseline(baseline);
  std::map<std::string, RatioTerm> by_prompt;
  for (const LoggedRequest* request : arm) {
    const RequestRow& row = request->row;
    const auto before = runs.find({row.prompt, row.baseline_before});
    const auto after = runs.find({row.prompt, row.baseline_after});
    if (!Served(*request) || before == runs.end() || after == runs.end()) continue;
    const RequestRow& first = before->second->row;
    const RequestRow& second = after->second->row;
    const double tokens = static_cast<double>(first.emitted() + second.emitted());
    if (tokens == 0 || row.decode_seconds <= 0) continue;
    const double seconds_per_token = (first.decode_seconds + second.decode_seconds) / tokens;
    RatioTerm& term = by_prompt[row.prompt];
    term.numerator += seconds_per_token * static_cast<double>(row.emitted());
    term.denominator += row.decode_seconds;
  }
  std::vector<RatioTerm> terms;
  for (const auto& [prompt, term] : by_prompt) terms.push_back(term);
  return terms;
}

std::vector<RatioTerm> SpeedupTermsAgainst(const Requests& arm, const Requests& other) {
  struct Work {
    double tokens = 0, seconds = 0;
  };
  const auto by_prompt = [](const Requests& requests) {
    std::map<std::string, Work> works;
    for (const LoggedRequest* request : requests) {
      if (!Served(*request)) continue;
      Work& work = works[request->row.prompt];
      work.tokens += static_cast<double>(request->row.emitted());
      work.seconds += request->row.decode_seconds;
    }
    return works;
  };
  const std::map<std::string, Work> others = by_prompt(other);
  std::vector<RatioTerm> terms;
  for (const auto& [prompt, work] : by_prompt(arm)) {
    const auto found = others.find(prompt);
    if (found == others.end() || found->second.tokens == 0 || work.seconds <= 0) continue;
    terms.push_back({found->second.seconds / found->second.tokens * work.tokens, work.seconds});
  }
  return terms;
}

Identity CompareOutputs(const Requests& requests, const Requests& baseline) {
  const BaselineRuns runs = IndexBaseline(baseline);
  Identity identity;
  for (const LoggedRequest* request : requests) {
    const auto first = runs.find({request->row.prompt, 0});
    if (!Served(*request) || first == runs.end()) continue;
    ++identity.compared;
    identity.identical += request->row.output == first->second->row.output;
  }
  return identity;
}

std::optional<double> DraftCost(const Requests& arm, const Requests& baseline) {
  const RoundCounts plain = CountRounds(baseline);
  const std::optional<double> t1 = Ratio(SplitTime(baseline).verify, static_cast<double>(plain.rounds));
  const std::optional<double> draft =
      Ratio(SplitTime(arm).draft, static_cast<double>(CountRounds(arm).drafted));
  if (!t1 || !draft) return std::nullopt;
  return Ratio(*draft, *t1);
}

std::optional<double> VerifyCost(const Requests& arm, const Requests& baseline) {
  const RoundCounts plain = CountRounds(baseline);
  const std::optional<double> t1 = Ratio(SplitTime(baseline).verify, static_cast<double>(plain.rounds));
  const std::optional<double> verify =
      Ratio(SplitTime(arm).verify, static_cast<double>(CountRounds(arm).rounds));
  if (!t1 || !verify) return std::nullopt;
  return Ratio(*verify, *t1);
}

}  // namespace forerun
