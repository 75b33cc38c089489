// Hydra (Ankner et al. 2024, arXiv:2402.05109): Medusa's heads, each of which also reads the tokens drafted
// before it (hydra_head.h). Any form of tree grows from them: a node of depth d is followed by what head d
// says of its path. Keeps what its rows read for the length of a round; costs one pass through head d over
// the nodes of depth d that have children, and no forward of any model.
#include <optional>
#include <utility>

#include "core/base/status_macros.h"
#include "drafters/heads/hydra_head.h"
#include "drafters/heads/state_heads.h"

namespace forerun {
namespace {

class HydraReader {
 public:
  HydraReader(HydraHead head, const Backbone& backbone) : head_(std::move(head)), backbone_(backbone) {}

  const HydraHead& head() const { return head_; }
  static std::unique_ptr<DrafterState> Open() { return std::make_unique<State>(); }

  bool Follows(const DraftTask& task) const {
    const std::optional<std::span<const float>> last = StateBeforeRoot(task);
    if (!last) return false;
    State& state = StateOf(task);
    state.inputs.clear();
    state.root = Extended({last->begin(), last->end()}, task.committed.back());
    return true;
  }

  void Read(std::span<TreeStep> steps) const {
    for (TreeStep& step : steps) {
      State& state = StateOf(*step.task);
      for (const TreeRow& row : step.rows)
        state.inputs.push_back(Extended(Input(state, row.parent), row.token));
      step.outputs.resize(NumRows(step));
    }
    for (int head = 0; head < head_.num_heads(); ++head) Ask(head, steps);
  }

 private:
  struct State final : DrafterState {
    std::vector<float> root;                 // what head 0 reads
    std::vector<std::vector<float>> inputs;  // of the round's rows: what the head after each reads
  };
  static State& StateOf(const DraftTask& task) { return *static_cast<State*>(task.state); }
  static const std::vector<float>& Input(const State& state, int row) {
    return row < 0 ? state.root : state.inputs[row];
  }
  static std::size_t NumRows(const TreeStep& step) { return std::max<std::size_t>(1, step.rows.size()); }

  std::vector<float> Extended(std::vector<float> input, TokenId token) const {
    std::vector<float> embedded(head_.width());
    backbone_.Embed({&token, 1}, embedded.data());
    input.insert(input.end(), embedded.begin(), embedded.end());
    return input;
  }

  // One pass of `head` over the rows of all steps that are followed by it.
  void Ask(int head, std::span<TreeStep> steps) const {
    const std::size_t width = static_cast<std::size_t>(head_.width()) * (head + 2);
    std::vector<float> inputs;
    std::vector<ForwardRow> wanted;
    std::vector<std::pair<TreeStep*, std::size_t>> asking;
    for (TreeStep& step : steps) {
      const State& state = StateOf(*step.task);
      for (std::size_t i = 0; i < NumRows(step); ++i) {
        const int row = static_cast<int>(state.inputs.size() - step.rows.size() + i);
        const std::vector<float>& input = Input(state, step.rows.empty() ? -1 : row);
        if (input.size() != width) continue;
        inputs.insert(inputs.end(), input.begin(), input.end());
        wanted.push_back({.wanted = step.wanted, .top_k = step.top_k});
        asking.emplace_back(&step, i);
      }
    }
    if (asking.empty()) return;
    absl::StatusOr<std::vector<RowOutput>> said = head_.Outputs(head, inputs, wanted);
    for (std::size_t i = 0; i < asking.size(); ++i) {
      const auto [step, row] = asking[i];
      if (said.ok()) step->outputs[row] = std::move((*said)[i]);
      step->task->status.Update(said.status());
    }
  }

  HydraHead head_;
  const Backbone& backbone_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeHydraDrafter(ObjectReader& options,
                                                          const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(StateHeadsOptions heads, ReadStateHeadsOptions(options, "hydra"));
  Backbone& backbone = *resources.target->backbone();
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(heads.path));
  FORERUN_ASSIGN_OR_RETURN(HydraHead head, HydraHead::Load(files, backbone, resources.target->vocab_size()));
  FORERUN_RETURN_IF_ERROR(CheckDepth(heads, head.num_heads()));
  const int tap = head.tap();
  return std::make_unique<StateHeadsDrafter<HydraReader>>(
      "hydra", kNotRunOnPublished, HydraReader(std::move(head), backbone), std::move(heads), tap);
}

}  // namespace forerun
