#include "experiments/lossless/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/base/table.h"

namespace forerun {
namespace {

bool Missed(const Control& control) {
  return control.expected ? control.bias <= kVisibleBias : control.bias > kExactBias;
}

// What the last column says of a row that promised, of one that promised nothing, and of a control.
const char* Word(bool failed) { return failed ? "FAILED" : "kept"; }
const char* ControlWord(bool seen) { return seen ? "seen" : "NOT SEEN"; }

Table ExactTable(const std::vector<ExactRow>& rows) {
  Table table = {.header = {"rule", "draft", "temperature", "guarantee", "law", "worst TV", "cases"},
                 .rows = {},
                 .text_columns = 5};
  for (const ExactRow& row : rows) {
    table.rows.push_back({row.rule, row.draft, row.greedy ? "0" : "1", LawName(row.law),
                          row.promises() ? Word(row.failed()) : "not promised",
                          absl::StrFormat("%.1e", row.worst_bias), absl::StrCat(row.cases)});
  }
  return table;
}

Table ControlTable(const std::vector<Control>& controls) {
  Table table = {.header = {"rule", "mistake", "", "TV"}, .rows = {}, .text_columns = 3};
  for (const Control& control : controls) {
    const char* word = control.expected ? ControlWord(!Missed(control)) : Word(Missed(control));
    table.rows.push_back({control.name, control.mistake, word, absl::StrFormat("%.1e", control.bias)});
  }
  return table;
}

Table SampledTable(const SampledReport& report) {
  Table table = {
      .header = {"drafter", "rule", "sampling", "law", "p-value", "accepted"}, .rows = {}, .text_columns = 4};
  for (const SampledRow& row : report.rows) {
    table.rows.push_back(
        {row.drafter, row.rule, row.sampling, row.control ? ControlWord(row.rejected) : Word(row.rejected),
         absl::StrFormat("%.1e", row.p_value()), absl::StrFormat("%.3f", row.acceptance_rate)});
  }
  return table;
}

Table GreedyTable(const std::vector<GreedyRow>& rows) {
  Table table = {.header = {"drafter", "rule", "texts", "different", "tokens", "accepted"},
                 .rows = {},
                 .text_columns = 2};
  for (const GreedyRow& row : rows) {
    table.rows.push_back({row.drafter, row.rule, absl::StrCat(row.texts), absl::StrCat(row.different),
                          absl::StrCat(row.tokens), absl::StrFormat("%.3f", row.acceptance_rate)});
  }
  return table;
}

Json ExactJson(const std::vector<ExactRow>& rows) {
  Json array = Json::array();
  for (const ExactRow& row : rows) {
    array.push_back({{"rule", row.rule},
                     {"draft", row.draft},
                     {"temperature", row.greedy ? 0 : 1},
                     {"guarantee", LawName(row.law)},
                     {"worst_total_variation", row.worst_bias},
                     {"worst_case", row.worst_case},
                     {"cases", row.cases},
                     {"failed", row.failed()}});
  }
  return array;
}

Json ControlsJson(const std::vector<Control>& controls) {
  Json array = Json::array();
  for (const Control& control : controls) {
    array.push_back({{"rule", control.name},
                     {"mistake", control.expected ? Json(control.mistake) : Json()},
                     {"total_variation", control.bias},
                     {"failed", Missed(control)}});
  }
  return array;
}

Json SampledJson(const SampledReport& report) {
  Json json = {{"texts", report.texts},
               {"seed", report.seed},
               {"family_alarm", kFamilyAlarm},
               {"tests", report.tests},
               {"detectable_total_variation", report.detectable_shift},
               {"left_out", report.left_out},
               {"rows", Json::array()}};
  for (const SampledRow& row : report.rows) {
    json["rows"].push_back({{"drafter", row.drafter},
                            {"rule", row.rule},
                            {"sampling", row.sampling},
                            {"control", row.control},
                            {"p_value", row.p_value()},
                            {"acceptance_rate", row.acceptance_rate},
                            {"failed", row.failed()}});
  }
  return json;
}

Json GreedyJson(const std::vector<GreedyRow>& rows) {
  Json array = Json::array();
  for (const GreedyRow& row : rows) {
    array.push_back({{"drafter", row.drafter},
                     {"rule", row.rule},
                     {"texts", row.texts},
                     {"different", row.different},
                     {"tokens", row.tokens},
                     {"acceptance_rate", row.acceptance_rate},
                     {"failed", row.failed()}});
  }
  return array;
}

template <typename Rows, typename Predicate>
int Count(const Rows& rows, Predicate predicate) {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), predicate));
}

std::string LeftOutText(const std::vector<std::string>& left_out) {
  return left_out.empty() ? "" : absl::StrCat("\nLeft out: ", absl::StrJoin(left_out, ", "), ".\n");
}

std::string CountsText(const SampledReport& report) {
  std::string text = absl::StrFormat(
      " token of %d texts a row. %d chi-square tests with Holm's correction, over this and every other "
      "count; "
      "the chance of any false alarm is below %.0e. One test sees a shift of %.3f in total variation with "
      "probability 0.99. The last rows are mistakes.\n\n",
      report.texts, report.tests, kFamilyAlarm, report.detectable_shift);
  absl::StrAppend(&text, Markdown(SampledTable(report)), LeftOutText(report.left_out));
  return text;
}

}  // namespace

void LosslessReport::Judge() {
  std::vector<SampledReport*> reports;
  for (std::optional<SampledReport>* counted : {&sampled, &model})
    if (*counted) reports.push_back(&**counted);
  JudgeTogether(reports);
}

int LosslessReport::checks() const {
  int count = Count(exact, [](const ExactRow& row) { return row.promises(); });
  count += static_cast<int>(controls.size());
  for (const std::optional<SampledReport>* counted : {&sampled, &model})
    if (*counted) count += static_cast<int>((*counted)->rows.size());
  if (greedy) count += static_cast<int>(greedy->rows.size());
  return count;
}

int LosslessReport::failures() const {
  int count = Count(exact, [](const ExactRow& row) { return row.failed(); });
  count += Count(controls, Missed);
  for (const std::optional<SampledReport>* counted : {&sampled, &model})
    if (*counted) count += Count((*counted)->rows, [](const SampledRow& row) { return row.failed(); });
  if (greedy) count += Count(greedy->rows, [](const GreedyRow& row) { return row.failed(); });
  return count;
}

std::string LosslessText(const LosslessReport& report) {
  std::string text = absl::StrFormat(
      "Exact laws: every outcome of two rounds or more on small tables; total variation at most %.0e.\n\n",
      kExactBias);
  absl::StrAppend(&text, Markdown(ExactTable(report.exact)),
                  absl::StrFormat("\nNegative controls: one mistake each, which must show as %.0e or more; "
                                  "\"none\": the same code without it.\n\n",
                                  kVisibleBias),
                  Markdown(ControlTable(report.controls)));
  if (report.sampled)
    absl::StrAppend(&text, "\nThrough the engine: first, second and last", CountsText(*report.sampled));
  if (report.model) {
    absl::StrAppend(&text, "\nThrough the engine, on the model: first, second and third",
                    CountsText(*report.model));
  }
  if (report.greedy) {
    absl::StrAppend(&text, "\nTemperature 0 on the model: texts that differ from plain decoding's.\n\n",
                    Markdown(GreedyTable(report.greedy->rows)), LeftOutText(report.greedy->left_out));
  }
  absl::StrAppend(&text, "\n", report.checks() - report.failures(), " of ", report.checks(),
                  " checks passed.\n");
  return text;
}

Json LosslessJson(const LosslessReport& report) {
  Json json = {{"exact", ExactJson(report.exact)}, {"controls", ControlsJson(report.controls)}};
  if (report.sampled) json["sampled"] = SampledJson(*report.sampled);
  if (report.model) json["model"] = SampledJson(*report.model);
  if (report.greedy) {
    json["greedy"] = GreedyJson(report.greedy->rows);
    json["greedy_left_out"] = report.greedy->left_out;
  }
  json["checks"] = report.checks();
  json["failures"] = report.failures();
  return json;
}

}  // namespace forerun
