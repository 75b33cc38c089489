#include "experiments/bench/speed.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "experiments/base/median.h"
#include "experiments/base/progress.h"
#include "experiments/texts/sample_text.h"
#include "experiments/texts/scoring.h"

namespace forerun {
namespace {

// A model under one numerics, and the bench that keeps its contexts.
struct Subject {
  LoadedModel loaded;
  std::unique_ptr<ModelBench> bench;
};

class SpeedMeasurement {
 public:
  SpeedMeasurement(Machine& machine, Roofline& roofline, const SpeedPlan& plan)
      : machine_(machine), roofline_(roofline), plan_(plan), progress_(0, Steps()) {}

  absl::StatusOr<SpeedReport> Measure() {
    FORERUN_RETURN_IF_ERROR(Load());
    for (int round = 0; round < plan_.repeat; ++round) {
      FORERUN_RETURN_IF_ERROR(MeasureRound(round));
      roofline_.Refresh();
    }
    for (SpeedOfSetting& setting : report_.settings) {
      if (setting.context == plan_.contexts[0]) FORERUN_RETURN_IF_ERROR(MeasureNll(setting));
    }
    progress_.Finish();
    for (SpeedReport::OfNumerics& of : report_.numerics) {
      of.ceilings = {roofline_.read_gb_s(), roofline_.median_read_gb_s(), roofline_.fma_gmac_s(),
                     roofline_.gmac_s(of.matrices)};
    }
    return std::move(report_);
  }

 private:
  int Steps() const {
    const std::size_t of_context = plan_.numerics.size() * plan_.fusions.size();
    const std::size_t rows = plan_.contexts.size() * plan_.rows.size() * of_context;
    const std::size_t of_round = rows + (plan_.prefill > 0 ? of_context : 0);
    return static_cast<int>(plan_.numerics.size() * plan_.contexts.size() + plan_.repeat * of_round);
  }

  absl::Status Load() {
    std::vector<int> contexts = plan_.contexts;
    std::sort(contexts.begin(), contexts.end());  // a longer one continues a shorter one
    for (const std::string& numerics : plan_.numerics) {
      Subject& subject = subjects_.emplace_back();
      FORERUN_ASSIGN_OR_RETURN(subject.loaded, machine_.Load(plan_.model, numerics));
      subject.bench = std::make_unique<ModelBench>(*subject.loaded.model, machine_.pool(), plan_.bench);
      report_.numerics.push_back({numerics, subject.loaded.model->matrices(), {}});
      roofline_.gmac_s(report_.numerics.back().matrices);
      for (const int context : contexts) {
        FORERUN_RETURN_IF_ERROR(subject.bench->Prepare(context));
        progress_.Advance(absl::StrCat("context ", context), context, 0);
      }
      for (const NamedFusion& fusion : plan_.fusions) {
        for (const int context : plan_.contexts) AddSetting(numerics, fusion, context);
      }
    }
    report_.path = subjects_[0].loaded.path;
    report_.isa = IsaName(machine_.kernels().isa);
    report_.threads = machine_.num_threads();
    report_.prefill = plan_.prefill;
    report_.output =
        plan_.bench.wanted == WantedOutput::kFull ? "full logits of every row" : "argmax of every row";
    return absl::OkStatus();
  }

  void AddSetting(const std::string& numerics, const NamedFusion& fusion, int context) {
    SpeedOfSetting& setting = report_.settings.emplace_back();
    setting.numerics = numerics;
    setting.fusion = fusion;
    setting.context = context;
    for (const int rows : plan_.rows) setting.rows.push_back({rows, {}});
  }

  Subject& SubjectOf(const SpeedOfSetting& setting) {
    const auto at = std::find(plan_.numerics.begin(), plan_.numerics.end(), setting.numerics);
    Subject& subject = subjects_[at - plan_.numerics.begin()];
    subject.loaded.model->SetFusion(setting.fusion.fusion);
    return subject;
  }

  // Every round starts with another setting, so that none always follows the same one.
  absl::Status MeasureRound(int round) {
    const std::size_t settings = report_.settings.size();
    for (std::size_t width = 0; width < plan_.rows.size(); ++width) {
      for (std::size_t i = 0; i < settings; ++i) {
        SpeedOfSetting& setting = report_.settings[(i + round) % settings];
        SpeedOfRows& of_rows = setting.rows[width];
        FORERUN_ASSIGN_OR_RETURN(const std::vector<double> ms,
                                 SubjectOf(setting).bench->TimeRows(setting.context, of_rows.rows, 1));
        of_rows.samples_ms.push_back(ms[0]);
        progress_.Advance(setting.name(), of_rows.rows, ms[0] / 1e3);
      }
    }
    for (std::size_t i = 0; i < settings && plan_.prefill > 0; ++i) {
      SpeedOfSetting& setting = report_.settings[(i + round) % settings];
      if (setting.context != plan_.contexts[0]) continue;
      FORERUN_ASSIGN_OR_RETURN(const double seconds, SubjectOf(setting).bench->TimePrefill(plan_.prefill));
      setting.prefill_seconds.push_back(seconds);
      progress_.Advance(setting.name(), plan_.prefill, seconds);
    }
    return absl::OkStatus();
  }

  absl::Status MeasureNll(SpeedOfSetting& setting) {
    Subject& subject = SubjectOf(setting);
    std::vector<TokenId> ids = plan_.ids;
    if (ids.empty()) {
      FORERUN_ASSIGN_OR_RETURN(ids, subject.loaded.tokenizer->Encode(kSampleText, {.add_special = true}));
      ids.resize(std::min<std::size_t>(ids.size(), subject.loaded.model->context_length()));
    }
    FORERUN_ASSIGN_OR_RETURN(const Score score,
                             ScoreTokens(*subject.loaded.model, machine_.pool(), ids, ScoreOptions()));
    setting.nll = score.mean_nll();
    report_.nll_ids = static_cast<int>(ids.size());
    return absl::OkStatus();
  }

  Machine& machine_;
  Roofline& roofline_;
  const SpeedPlan& plan_;
  std::vector<Subject> subjects_;  // [plan_.numerics]
  SpeedReport report_;
  Progress progress_;
};

}  // namespace

double SpeedOfRows::best_ms() const { return *std::min_element(samples_ms.begin(), samples_ms.end()); }

double PairedRatio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / b[i]);
  return Median(ratios);
}

double SpeedOfRows::median_ms() const { return Median(samples_ms); }

std::string SpeedOfSetting::name() const {
  return absl::StrCat(numerics, ", fusion ", fusion.name, ", context ", context);
}

const SpeedReport::OfNumerics& SpeedReport::of(const SpeedOfSetting& setting) const {
  const auto found = std::find_if(numerics.begin(), numerics.end(),
                                  [&](const OfNumerics& of) { return of.numerics == setting.numerics; });
  FORERUN_CHECK(found != numerics.end());
  return *found;
}

absl::StatusOr<SpeedReport> MeasureSpeed(Machine& machine, Roofline& roofline, const SpeedPlan& plan) {
  return SpeedMeasurement(machine, roofline, plan).Measure();
}

}  // namespace forerun
