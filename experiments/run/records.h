// The rows of requests.jsonl and rounds.jsonl, and back. experiments/run/records.md says what each field
// means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/base/types.h"
#include "core/engine/round_record.h"

namespace forerun {

struct RequestRow {
  std::string unit;  // UnitKey(): what --resume goes by
  std::string arm;
  std::string prompt;  // the prompt's id
  std::string category;
  int repetition = 0;
  int baseline_before = -1;  // repetitions of the baseline that bracket this run; -1: none
  int baseline_after = -1;
  int64_t prompt_tokens = 0;
  std::vector<TokenId> output;
  std::string text;
  std::string finish_reason;
  int rounds = 0;
  int64_t drafted = 0;
  int64_t accepted = 0;
  double prefill_seconds = 0;
  double decode_seconds = 0;
  int64_t peak_rss_bytes = 0;  // of the process so far
  std::string drafter_state;   // "cold": nothing is carried from request to request; "learning"
  std::string drafter_note;    // what every table must say of the drafter: Drafter::note(); empty: nothing
  std::string error;           // empty: the request was served

  int64_t emitted() const { return static_cast<int64_t>(output.size()); }
};

// A request with its rounds, as read back from a run.
struct LoggedRequest {
  RequestRow row;
  std::vector<RoundRecord> rounds;
};

// "<prompt id>/<arm>/<repetition>".
std::string UnitKey(const std::string& prompt, const std::string& arm, int repetition);

Json RequestRowJson(const RequestRow& row);
Json RoundJson(const std::string& unit, const RoundRecord& round);

// `where`: file and line, for messages.
absl::StatusOr<RequestRow> ReadRequestRow(const Json& json, const std::string& where);
absl::StatusOr<RoundRecord> ReadRound(const Json& json, const std::string& where, std::string* unit);

}  // namespace forerun
