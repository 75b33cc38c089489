#include "experiments/report/comparison_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace forerun {
namespace {

constexpr char kNothing[] = "–";

std::string Text(const char* format, const std::optional<double>& value) {
  if (!value) return kNothing;
  char text[64];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::string PercentText(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.0f %%", *value * 100) : kNothing;
}

std::string SpeedupText(const ComparisonRow& row) {
  if (row.is_baseline) return absl::StrCat(row.speedup ? "1" : kNothing, " (baseline)");
  if (!row.speedup_interval) return Text("%.2f", row.speedup);
  return absl::StrFormat("%.2f [%.2f, %.2f]", *row.speedup, row.speedup_interval->low,
                         row.speedup_interval->high);
}

std::string TimeText(const TimeSplit& time) {
  if (time.total() <= 0) return kNothing;
  const double percent = 100 / time.total();
  return absl::StrFormat("%.0f/%.0f/%.0f/%.0f", time.draft * percent, time.verify * percent,
                         time.sample * percent, time.other * percent);
}

std::string GuaranteeText(const ComparisonRow& row) {
  return absl::StrCat(row.law, ", ", row.arithmetic, row.drafter_note.empty() ? "" : "; ", row.drafter_note);
}

std::string IdentityText(const std::optional<Identity>& identity) {
  return identity ? absl::StrCat(identity->identical, "/", identity->compared) : kNothing;
}

// "3 (12 %)": requests that end in a loop, and the part of all tokens that lies in them.
std::string LoopText(const ComparisonRow& row) {
  if (row.loops == 0) return "0";
  return absl::StrFormat("%d (%.0f %%)", row.loops, 100.0 * row.loop_tokens / row.counts.emitted);
}

bool SeveralRuns(const std::vector<ComparisonRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const ComparisonRow& row) { return row.run != rows[0].run; });
}

std::vector<std::string> Key(const ComparisonRow& row, bool with_run) {
  std::vector<std::string> key;
  if (with_run) key.push_back(row.run);
  key.push_back(row.category);
  key.push_back(row.arm);
  return key;
}

std::vector<std::string> KeyHeader(bool with_run) {
  return with_run ? std::vector<std::string>{"run", "category", "arm"}
                  : std::vector<std::string>{"category", "arm"};
}

template <class Value>  // double, or nothing where undefined
std::string PercentList(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const std::optional<double> value : values)
    texts.push_back(value ? absl::StrFormat("%3.0f", *value * 100) : absl::StrCat("  ", kNothing));
  return absl::StrJoin(texts, " ");
}

// One line for each run that lacks requests.
std::string PartialRuns(const std::vector<ComparisonRow>& rows) {
  std::string text;
  const std::string* last = nullptr;
  for (const ComparisonRow& row : rows) {
    const bool seen = last != nullptr && *last == row.run;
    last = &row.run;
    if (seen || row.requests_planned <= row.requests_done) continue;
    absl::StrAppend(&text, "partial: ", SeveralRuns(rows) ? row.run + ": " : "", row.requests_done, " of ",
                    row.requests_planned, " requests\n");
  }
  return text.empty() ? text : text + "\n";
}

void Extend(std::vector<std::string>* cells, std::vector<std::string> more) {
  for (std::string& cell : more) cells->push_back(std::move(cell));
}

}  // namespace

Table SpeedTable(const std::vector<ComparisonRow>& rows) {
  Table table;
  const bool with_run = SeveralRuns(rows);
  table.header = KeyHeader(with_run);
  table.text_columns = static_cast<int>(table.header.size());
  Extend(&table.header, {"tok/s", "speedup [95 %]", "tau", "accepted", "coverage", "d/v/s/o %", "ms/round",
                         "guarantee", "identical", "prompts", "loops", "rounds"});
  for (const ComparisonRow& row : rows) {
    std::vector<std::string> cells = Key(row, with_run);
    std::string prompts = absl::StrCat(row.prompts);
    if (row.errors > 0) absl::StrAppend(&prompts, " (", row.errors, " errors)");
    Extend(&cells, {Text("%.1f", row.tokens_per_second), SpeedupText(row), Text("%.2f", row.tau),
                    PercentText(row.acceptance_rate), row.is_baseline ? kNothing : PercentText(row.coverage),
                    TimeText(row.time), Text("%.1f", row.ms_per_round), GuaranteeText(row),
                    IdentityText(row.identity), prompts, LoopText(row), absl::StrCat(row.counts.rounds)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table PositionTable(const std::vector<ComparisonRow>& rows) {
  Table table;
  const bool with_run = SeveralRuns(rows);
  table.header = KeyHeader(with_run);
  Extend(&table.header, {"survival % (1, 2, ...)", "conditional % (1, 2, ...)"});
  table.text_columns = static_cast<int>(table.header.size());
  for (const ComparisonRow& row : rows) {
    if (row.positions.survival.empty()) continue;
    std::vector<std::string> cells = Key(row, with_run);
    Extend(&cells, {PercentList(row.positions.survival), PercentList(row.positions.conditional)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string ComparisonMarkdown(const std::vector<ComparisonRow>& rows) {
  std::string text = PartialRuns(rows) + Markdown(SpeedTable(rows));
  text +=
      "\nspeedup: time that the baseline would need for the same tokens / time taken, over decoding, paired "
      "by prompt.\n"
      "tau: tokens a round, the target's own included. accepted: of all drafted tokens. coverage: rounds "
      "with a draft.\n"
      "d/v/s/o: draft, verify, sample, other. identical: outputs equal to the baseline's, id by id.\n"
      "loops: requests that end in a loop, and the part of all tokens that lies in them; a loop is easy to "
      "draft.\n";
  const Table positions = PositionTable(rows);
  if (positions.rows.empty()) return text;
  text += "\nsurvival: first i drafted tokens accepted, of rounds that proposed i.\n";
  text += "conditional: the i-th accepted, of rounds where the i - 1 before it were.\n\n";
  return text + Markdown(positions);
}

}  // namespace forerun
