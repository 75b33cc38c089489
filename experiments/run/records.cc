#include "experiments/run/records.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "experiments/base/file_hash.h"
#include "experiments/base/token_ids.h"

namespace forerun {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr double kHuge = 1e18;

int Count(ObjectReader& reader, const char* key, int least = 0) {
  return static_cast<int>(reader.Int(key, 0, least, std::numeric_limits<int>::max()));
}

double Milliseconds(ObjectReader& reader, const char* key) { return reader.Number(key, 0, 0, kHuge) / 1e3; }

std::vector<TokenId> Tokens(ObjectReader& reader, const char* key) {
  const Json* array = reader.Array(key);
  if (array == nullptr) return {};
  absl::StatusOr<std::vector<TokenId>> tokens = ReadTokenIds(*array, key);
  if (tokens.ok()) return *std::move(tokens);
  reader.Fail(key, absl::StrCat("an array of token ids (", tokens.status().message(), ")"));
  return {};
}

bool IsNode(const Json& node) {
  return node.is_number_unsigned() && node.get<uint64_t>() <= std::numeric_limits<int>::max();
}

// [[node, p, q, accepted], ...]
std::vector<Examined> ReadExamined(ObjectReader& reader) {
  std::vector<Examined> examined;
  const Json* array = reader.Array("examined");
  if (array == nullptr) return examined;
  for (const Json& entry : *array) {
    const bool well_formed = entry.is_array() && entry.size() == 4 && IsNode(entry[0]) &&
                             entry[1].is_number() && entry[2].is_number() && entry[3].is_boolean();
    if (!well_formed) {
      reader.Fail("examined", "an array of [node, p, q, accepted]");
      return {};
    }
    examined.push_back(
        {entry[0].get<int>(), entry[1].get<double>(), entry[2].get<double>(), entry[3].get<bool>()});
  }
  return examined;
}

Json ExaminedJson(const std::vector<Examined>& examined) {
  Json array = Json::array();
  for (const Examined& entry : examined) array.push_back({entry.node, entry.p, entry.q, entry.accepted});
  return array;
}

}  // namespace

std::string UnitKey(const std::string& prompt, const std::string& arm, int repetition) {
  return absl::StrCat(prompt, "/", arm, "/", repetition);
}

Json RequestRowJson(const RequestRow& row) {
  Json json;
  json["unit"] = row.unit;
  json["arm"] = row.arm;
  json["prompt"] = row.prompt;
  json["category"] = row.category;
  json["repetition"] = row.repetition;
  json["baseline_before"] = row.baseline_before;
  json["baseline_after"] = row.baseline_after;
  json["prompt_tokens"] = row.prompt_tokens;
  json["emitted"] = row.emitted();
  json["rounds"] = row.rounds;
  json["drafted"] = row.drafted;
  json["accepted"] = row.accepted;
  json["finish_reason"] = row.finish_reason;
  json["prefill_seconds"] = row.prefill_seconds;
  json["decode_seconds"] = row.decode_seconds;
  json["peak_rss_bytes"] = row.peak_rss_bytes;
  json["drafter_state"] = row.drafter_state;
  if (!row.drafter_note.empty()) json["drafter_note"] = row.drafter_note;
  json["output_sha256"] = Sha256Hex(DumpJson(Json(row.output)));
  json["output"] = row.output;
  json["text"] = row.text;
  if (!row.error.empty()) json["error"] = row.error;
  return json;
}

Json RoundJson(const std::string& unit, const RoundRecord& round) {
  Json json;
  json["unit"] = unit;
  json["request"] = round.request;
  json["round"] = round.round;
  json["committed"] = round.committed;
  json["budget"] = round.budget;
  json["drafted"] = round.drafted;
  json["max_depth"] = round.max_depth;
  json["accepted"] = round.accepted;
  json["truncated"] = round.truncated;
  json["length_limited"] = round.length_limited;
  json["bonus"] = round.bonus;
  json["emitted"] = round.emitted;
  json["examined"] = ExaminedJson(round.examined);
  json["draft_ms"] = round.draft_seconds * 1e3;
  json["verify_ms"] = round.verify_seconds * 1e3;
  json["sample_ms"] = round.sample_seconds * 1e3;
  json["other_ms"] = round.other_seconds * 1e3;
  json["batch_sequences"] = round.batch_sequences;
  json["batch_rows"] = round.batch_rows;
  return json;
}

absl::StatusOr<RequestRow> ReadRequestRow(const Json& json, const std::string& where) {
  RequestRow row;
  ObjectReader reader(json, where);
  row.unit = reader.RequiredString("unit");
  row.arm = reader.RequiredString("arm");
  row.prompt = reader.RequiredString("prompt");
  row.category = reader.String("category", "");
  row.repetition = Count(reader, "repetition");
  row.baseline_before = Count(reader, "baseline_before", -1);
  row.baseline_after = Count(reader, "baseline_after", -1);
  row.prompt_tokens = reader.Int("prompt_tokens", 0, 0, kMost);
  row.output = Tokens(reader, "output");
  row.text = reader.String("text", "");
  row.finish_reason = reader.String("finish_reason", "");
  row.rounds = Count(reader, "rounds");
  row.drafted = reader.Int("drafted", 0, 0, kMost);
  row.accepted = reader.Int("accepted", 0, 0, kMost);
  row.prefill_seconds = reader.Number("prefill_seconds", 0, 0, kHuge);
  row.decode_seconds = reader.Number("decode_seconds", 0, 0, kHuge);
  row.peak_rss_bytes = reader.Int("peak_rss_bytes", 0, 0, kMost);
  row.drafter_state = reader.String("drafter_state", "");
  row.drafter_note = reader.String("drafter_note", "");
  row.error = reader.String("error", "");
  if (reader.Int("emitted", 0, 0, kMost) != row.emitted()) reader.Fail("emitted", "the length of \"output\"");
  reader.Has("output_sha256");
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return row;
}

absl::StatusOr<RoundRecord> ReadRound(const Json& json, const std::string& where, std::string* unit) {
  RoundRecord round;
  ObjectReader reader(json, where);
  *unit = reader.RequiredString("unit");
  round.request = static_cast<uint64_t>(reader.Int("request", 0, 0, kMost));
  round.round = Count(reader, "round");
  round.committed = Count(reader, "committed");
  round.budget = Count(reader, "budget");
  round.drafted = Count(reader, "drafted");
  round.max_depth = Count(reader, "max_depth");
  round.accepted = Count(reader, "accepted");
  round.truncated = Count(reader, "truncated");
  round.length_limited = reader.Bool("length_limited", false);
  round.bonus = reader.Bool("bonus", false);
  round.emitted = Tokens(reader, "emitted");
  round.examined = ReadExamined(reader);
  round.draft_seconds = Milliseconds(reader, "draft_ms");
  round.verify_seconds = Milliseconds(reader, "verify_ms");
  round.sample_seconds = Milliseconds(reader, "sample_ms");
  round.other_seconds = Milliseconds(reader, "other_ms");
  round.batch_sequences = Count(reader, "batch_sequences");
  round.batch_rows = Count(reader, "batch_rows");
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return round;
}

}  // namespace forerun
