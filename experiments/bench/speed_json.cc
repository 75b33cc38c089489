#include <algorithm>

#include "experiments/bench/speed.h"

namespace forerun {
namespace {

Json RowsJson(const SpeedReport::OfNumerics& of, const SpeedOfSetting& setting) {
  const auto one = std::find_if(setting.rows.begin(), setting.rows.end(),
                                [](const SpeedOfRows& rows) { return rows.rows == 1; });
  Json rows = Json::array();
  for (const SpeedOfRows& measured : setting.rows) {
    const Floor floor = FloorOf(of.matrices, measured.rows);
    const double ms = measured.best_ms();
    Json row;
    row["n"] = measured.rows;
    row["ms"] = ms;
    row["median_ms"] = measured.median_ms();
    row["c"] = one == setting.rows.end() ? Json() : Json(PairedRatio(measured.samples_ms, one->samples_ms));
    row["gb_s"] = floor.gb_s(ms);
    row["gmac_s"] = floor.gmac_s(ms);
    row["ceiling_share"] = floor.gmac_s(ms) / of.ceilings.gmac_s;
    row["of_floor"] = ms / floor.ms(of.ceilings.read_gb_s, of.ceilings.gmac_s);
    row["samples_ms"] = measured.samples_ms;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json CeilingsJson(const Ceilings& ceilings) {
  Json json;
  json["read_gb_s"] = ceilings.read_gb_s;
  json["median_read_gb_s"] = ceilings.median_read_gb_s;
  json["gmac_s"] = ceilings.gmac_s;
  json["fma_gmac_s"] = ceilings.fma_gmac_s;
  return json;
}

Json SettingJson(const SpeedReport& report, const SpeedOfSetting& setting) {
  const SpeedReport::OfNumerics& of = report.of(setting);
  Json json;
  json["numerics"] = setting.numerics;
  json["fusion"] = setting.fusion.name;
  json["context"] = setting.context;
  json["rows"] = RowsJson(of, setting);
  for (const SpeedOfRows& measured : setting.rows) {
    if (measured.rows != 1) continue;
    const Floor floor = FloorOf(of.matrices, 1);
    json["bandwidth_share"] = floor.gb_s(measured.best_ms()) / of.ceilings.read_gb_s;
    json["median_bandwidth_share"] = floor.gb_s(measured.median_ms()) / of.ceilings.median_read_gb_s;
  }
  json["ceilings"] = CeilingsJson(of.ceilings);
  json["weight_bytes"] = FloorOf(of.matrices, 1).bytes;
  json["multiply_adds_per_row"] = FloorOf(of.matrices, 1).multiply_adds;
  if (!setting.prefill_seconds.empty()) {
    const double best = *std::min_element(setting.prefill_seconds.begin(), setting.prefill_seconds.end());
    json["prefill_tokens"] = report.prefill;
    json["prefill_tokens_per_second"] = report.prefill / best;
    json["prefill_seconds"] = setting.prefill_seconds;
  }
  if (setting.nll) {
    json["nll"] = *setting.nll;
    json["nll_ids"] = report.nll_ids;
  }
  return json;
}

}  // namespace

Json SpeedJson(const SpeedReport& report) {
  Json json;
  json["model"] = report.path;
  json["isa"] = report.isa;
  json["threads"] = report.threads;
  json["output"] = report.output;
  json.update(SettingJson(report, report.settings[0]));
  json["settings"] = Json::array();
  for (const SpeedOfSetting& setting : report.settings) {
    json["settings"].push_back(SettingJson(report, setting));
  }
  return json;
}

}  // namespace forerun
