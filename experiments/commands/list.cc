#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "absl/strings/str_format.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"
#include "experiments/base/table.h"
#include "experiments/commands/commands.h"
#include "kernels/kernels.h"

namespace forerun {
namespace {

void Print(const Table& table) { std::fputs(Markdown(table).c_str(), stdout); }

void ListDrafterTypes() {
  Table table = {.header = {"drafter", "needs", "idea"}, .rows = {}, .text_columns = 3};
  for (const DrafterInfo& info : ListDrafters()) {
    table.rows.push_back({info.key, NeedsText(info.needs), info.description});
  }
  Print(table);
}

void ListRuleNames() {
  Table table = {.header = {"rule", "parameters", "what it does"}, .rows = {}, .text_columns = 3};
  for (const RuleInfo& info : ListRules()) {
    const std::string parameters = info.parameters == std::string("{}") ? "" : info.parameters;
    table.rows.push_back({info.name, parameters, info.description});
  }
  Print(table);
}

void ListModels() {
  namespace fs = std::filesystem;
  Table table = {.header = {"model", "MB"}, .rows = {}, .text_columns = 1};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("models", error)) {
    if (entry.path().extension() != ".gguf") continue;
    const double bytes = static_cast<double>(entry.file_size(error));
    table.rows.push_back({entry.path().stem().string(), absl::StrFormat("%.1f", bytes / 1e6)});
  }
  std::sort(table.rows.begin(), table.rows.end());
  if (table.rows.empty()) {
    std::puts("no *.gguf under models/; scripts/fetch_models.py fetches the known ones");
    return;
  }
  Print(table);
}

// One line: which variants are written, and which one this machine runs.
template <class Args>
void AddKernel(const char* name, const Variants<Args>& variants, Table* table) {
  const Isa machine = DetectIsa();
  std::vector<std::string> cells = {name};
  Isa used = Isa::kReference;
  for (const Isa isa : kAllIsas) {
    const bool written = variants.Exactly(isa) != nullptr;
    if (written && isa <= machine) used = isa;
    cells.push_back(!written ? "" : isa <= machine ? "yes" : "not on this machine");
  }
  cells.push_back(IsaName(used));
  table->rows.push_back(std::move(cells));
}

void ListKernels() {
  Table table = {.header = {"kernel"}, .rows = {}, .text_columns = 6};
  for (const Isa isa : kAllIsas) table.header.push_back(IsaName(isa));
  table.header.push_back("used");
  AddKernel("matmul_f32", kMatmulF32, &table);
  AddKernel("matmul_a8", kMatmulA8, &table);
  AddKernel("quantize_rows", kQuantizeRows, &table);
  AddKernel("rms_norm", kRmsNorm, &table);
  AddKernel("rope", kRope, &table);
  AddKernel("kv_store", kKvStore, &table);
  AddKernel("attention", kAttention, &table);
  AddKernel("gate", kGate, &table);
  AddKernel("add", kAdd, &table);
  AddKernel("row_reduce", kRowReduce, &table);
  Print(table);
}

absl::Status List(const std::string& what) {
  if (what == "drafters") ListDrafterTypes();
  if (what == "rules") ListRuleNames();
  if (what == "models") ListModels();
  if (what == "kernels") ListKernels();
  return absl::OkStatus();
}

}  // namespace

Command AddListCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "Print what there is: drafters, rules, models or kernels");
  auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "drafters, rules, models or kernels")
      ->required()
      ->check(CLI::IsMember({"drafters", "rules", "models", "kernels"}));
  command->footer("Example:\n  forerun list drafters");
  return {command, [what] { return List(*what); }};
}

}  // namespace forerun
