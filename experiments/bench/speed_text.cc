#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "experiments/base/table.h"
#include "experiments/bench/speed.h"

namespace forerun {
namespace {

std::string Percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

double BestPrefill(const SpeedReport& report, const SpeedOfSetting& setting) {
  return report.prefill / *std::min_element(setting.prefill_seconds.begin(), setting.prefill_seconds.end());
}

// What tells the setting from the others of its report.
std::string Label(const SpeedReport& report, const SpeedOfSetting& setting) {
  const SpeedOfSetting& first = report.settings[0];
  const auto varies = [&](auto differs) {
    return std::any_of(report.settings.begin(), report.settings.end(), differs);
  };
  std::vector<std::string> parts;
  if (varies([&](const SpeedOfSetting& other) { return other.numerics != first.numerics; }))
    parts.push_back(setting.numerics);
  if (varies([&](const SpeedOfSetting& other) { return other.fusion.name != first.fusion.name; }))
    parts.push_back(absl::StrCat("fusion ", setting.fusion.name));
  if (varies([&](const SpeedOfSetting& other) { return other.context != first.context; }))
    parts.push_back(absl::StrCat("context ", setting.context));
  return absl::StrJoin(parts, ", ");
}

std::string RowsTable(const SpeedReport& report, const SpeedOfSetting& setting) {
  const SpeedReport::OfNumerics& of = report.of(setting);
  Table table = {
      .header = {"rows", "ms", "median ms", "c(n)", "GB/s", "of read", "GMAC/s", "of ceiling", "of floor"},
      .rows = {},
      .text_columns = 0};
  const bool from_one = setting.rows[0].rows == 1;
  for (const SpeedOfRows& rows : setting.rows) {
    const Floor floor = FloorOf(of.matrices, rows.rows);
    const double ms = rows.best_ms();
    table.rows.push_back(
        {absl::StrCat(rows.rows), absl::StrFormat("%.2f", ms), absl::StrFormat("%.2f", rows.median_ms()),
         from_one ? absl::StrFormat("%.2f", PairedRatio(rows.samples_ms, setting.rows[0].samples_ms)) : "-",
         absl::StrFormat("%.1f", floor.gb_s(ms)), Percent(floor.gb_s(ms) / of.ceilings.read_gb_s),
         absl::StrFormat("%.0f", floor.gmac_s(ms)), Percent(floor.gmac_s(ms) / of.ceilings.gmac_s),
         absl::StrFormat("%.2f", ms / floor.ms(of.ceilings.read_gb_s, of.ceilings.gmac_s))});
  }
  return Markdown(table);
}

}  // namespace

std::string SpeedHead(const SpeedReport& report) {
  std::string text =
      absl::StrFormat("%s, %s, %d threads, %s\n", report.path, report.isa, report.threads, report.output);
  for (const SpeedReport::OfNumerics& of : report.numerics) {
    const Floor one = FloorOf(of.matrices, 1);
    absl::StrAppend(
        &text,
        absl::StrFormat("%s: %.0f MB of weights, %.0f M multiply-adds a row; this machine reads "
                        "%.1f GB/s (median %.1f) and has %.0f GMAC/s for this mix (bare f32 fma: %.0f)\n",
                        of.numerics, one.bytes / 1e6, one.multiply_adds / 1e6, of.ceilings.read_gb_s,
                        of.ceilings.median_read_gb_s, of.ceilings.gmac_s, of.ceilings.fma_gmac_s));
  }
  return text;
}

std::string SettingsTable(const SpeedReport& report) {
  Table table = {.header = {"setting"}, .rows = {}, .text_columns = 1};
  for (const SpeedOfRows& rows : report.settings[0].rows) {
    table.header.push_back(absl::StrCat("median ms, n=", rows.rows));
    table.header.push_back("ratio");
  }
  if (report.prefill > 0) {
    table.header.push_back(absl::StrCat("prefill ", report.prefill, ", tok/s"));
    table.header.push_back("ratio");
  }
  for (const SpeedOfSetting& setting : report.settings) {
    std::vector<std::string> line = {Label(report, setting)};
    for (std::size_t i = 0; i < setting.rows.size(); ++i) {
      line.push_back(absl::StrFormat("%.2f", setting.rows[i].median_ms()));
      line.push_back(absl::StrFormat(
          "%.3f", PairedRatio(setting.rows[i].samples_ms, report.settings[0].rows[i].samples_ms)));
    }
    if (report.prefill > 0) {
      const bool timed = !setting.prefill_seconds.empty();
      line.push_back(timed ? absl::StrFormat("%.1f", BestPrefill(report, setting)) : "-");
      line.push_back(timed ? absl::StrFormat("%.3f", PairedRatio(report.settings[0].prefill_seconds,
                                                                 setting.prefill_seconds))
                           : "-");
    }
    table.rows.push_back(std::move(line));
  }
  return absl::StrCat(Markdown(table),
                      "\nratio: median over the rounds, each round's settings next to each other.\n");
}

std::string SpeedText(const SpeedReport& report) {
  std::string text = SpeedHead(report);
  for (const SpeedOfSetting& setting : report.settings) {
    absl::StrAppend(&text, "\n", setting.name(), "\n\n", RowsTable(report, setting));
    if (setting.rows[0].rows == 1) {
      const SpeedReport::OfNumerics& of = report.of(setting);
      const double median = FloorOf(of.matrices, 1).gb_s(setting.rows[0].median_ms());
      absl::StrAppend(&text, "\nmedian against median, one row has ",
                      Percent(median / of.ceilings.median_read_gb_s), " of the read bandwidth\n");
    }
    if (!setting.prefill_seconds.empty()) {
      absl::StrAppend(&text, absl::StrFormat("\nprefill of %d tokens: %.1f tokens/s\n", report.prefill,
                                             BestPrefill(report, setting)));
    }
    if (setting.nll) {
      absl::StrAppend(&text, absl::StrFormat("mean NLL of %d ids: %.4f\n", report.nll_ids, *setting.nll));
    }
  }
  if (report.settings.size() > 1) absl::StrAppend(&text, "\n", SettingsTable(report));
  return text;
}

}  // namespace forerun
