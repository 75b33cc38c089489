#include "absl/strings/str_join.h"
#include "experiments/report/comparison_table.h"

namespace forerun {
namespace {

Json Number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json Numbers(const std::vector<std::optional<double>>& values) {
  Json json = Json::array();
  for (const std::optional<double>& value : values) json.push_back(Number(value));
  return json;
}

Json TimeJson(const TimeSplit& time) {
  Json json;
  const double total = time.total();
  const auto percent = [total](double seconds) { return total > 0 ? Json(100 * seconds / total) : Json(); };
  json["draft"] = percent(time.draft);
  json["verify"] = percent(time.verify);
  json["sample"] = percent(time.sample);
  json["other"] = percent(time.other);
  return json;
}

Json RowJson(const ComparisonRow& row) {
  Json json;
  json["run"] = row.run;
  json["arm"] = row.arm;
  json["category"] = row.category;
  json["baseline"] = row.is_baseline;
  json["tokens_per_second"] = Number(row.tokens_per_second);
  json["speedup"] = Number(row.speedup);
  json["speedup_low"] = row.speedup_interval ? Json(row.speedup_interval->low) : Json();
  json["speedup_high"] = row.speedup_interval ? Json(row.speedup_interval->high) : Json();
  json["tau"] = Number(row.tau);
  json["tau_request_mean"] = Number(row.tau_request_mean);
  json["acceptance_rate"] = Number(row.acceptance_rate);
  json["coverage"] = Number(row.coverage);
  json["proposed"] = row.positions.proposed;
  json["survival"] = row.positions.survival;
  json["conditional"] = Numbers(row.positions.conditional);
  json["time_percent"] = TimeJson(row.time);
  json["ms_per_round"] = Number(row.ms_per_round);
  json["draft_cost"] = Number(row.draft_cost);
  json["verify_cost"] = Number(row.verify_cost);
  json["drafter_note"] = row.drafter_note.empty() ? Json() : Json(row.drafter_note);
  json["law"] = row.law;
  json["arithmetic"] = row.arithmetic;
  json["identical"] = row.identity ? Json(row.identity->identical) : Json();
  json["identical_of"] = row.identity ? Json(row.identity->compared) : Json();
  json["prompts"] = row.prompts;
  json["requests"] = row.requests;
  json["errors"] = row.errors;
  json["requests_done"] = row.requests_done;
  json["requests_planned"] = row.requests_planned > 0 ? Json(row.requests_planned) : Json();
  json["loops"] = row.loops;
  json["loop_tokens"] = row.loop_tokens;
  json["rounds"] = row.counts.rounds;
  json["rounds_truncated"] = row.counts.truncated;
  json["rounds_length_limited"] = row.counts.length_limited;
  json["rounds_without_draft"] = row.counts.empty_draft;
  json["drafted"] = row.counts.drafted;
  json["accepted"] = row.counts.accepted;
  json["emitted"] = row.counts.emitted;
  return json;
}

// A cell of the flat table.
std::string Cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return DumpJson(value);
  std::vector<std::string> entries;
  for (const Json& entry : value) entries.push_back(entry.is_null() ? "" : DumpJson(entry));
  return absl::StrJoin(entries, ";");
}

void Flatten(const Json& object, const std::string& prefix, std::vector<std::string>* names,
             std::vector<std::string>* cells) {
  for (const auto& member : object.items()) {
    if (member.value().is_object()) {
      Flatten(member.value(), prefix + member.key() + "_", names, cells);
      continue;
    }
    names->push_back(prefix + member.key());
    cells->push_back(Cell(member.value()));
  }
}

}  // namespace

Json ComparisonJson(const std::vector<ComparisonRow>& rows) {
  Json json;
  json["rows"] = Json::array();
  for (const ComparisonRow& row : rows) json["rows"].push_back(RowJson(row));
  return json;
}

std::string ComparisonCsv(const std::vector<ComparisonRow>& rows) {
  Table table;
  for (const ComparisonRow& row : rows) {
    table.header.clear();
    table.rows.emplace_back();
    Flatten(RowJson(row), "", &table.header, &table.rows.back());
  }
  return Csv(table);
}

}  // namespace forerun
