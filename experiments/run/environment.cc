#include "experiments/run/environment.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "build_info.h"
#include "core/base/status_macros.h"
#include "experiments/base/file_hash.h"

namespace forerun {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Values of `key` in /proc/cpuinfo, one a core; empty where the system has none.
std::vector<std::string> CpuInfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  std::vector<std::string> values;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.rfind(key, 0) != 0) continue;
    values.emplace_back(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return values;
}

Json DescribeCpu() {
  Json cpu;
  const std::vector<std::string> models = CpuInfo("model name");
  cpu["model"] = models.empty() ? "unknown" : models[0];
  cpu["cores"] = std::thread::hardware_concurrency();
  cpu["clock_mhz"] = Json::array();
  for (const std::string& clock : CpuInfo("cpu MHz")) {
    double mhz = 0;
    if (absl::SimpleAtod(clock, &mhz)) cpu["clock_mhz"].push_back(mhz);
  }
  const std::string governor = FirstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  cpu["governor"] = governor.empty() ? "unknown" : governor;
  return cpu;
}

Json DescribeSystem() {
  Json system;
  struct utsname names;
  if (uname(&names) == 0) {
    system["kernel"] = absl::StrCat(names.sysname, " ", names.release);
    system["machine"] = names.machine;
  }
  system["page_bytes"] = static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  system["memory_bytes"] =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  return system;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  struct tm parts;
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

absl::StatusOr<Json> ModelInputs(const LoadedModel& model) {
  Json json;
  FORERUN_ASSIGN_OR_RETURN(json["sha256"], CachedSha256OfFile(model.path));
  json["tokenizer_sha256"] = TokenizerHash(*model.tokenizer);
  return json;
}

Json DescribeModel(const LoadedModel& model) {
  Json json;
  json["path"] = model.path;
  json["architecture"] = model.architecture;
  json["parameters"] = model.parameters;
  json["file_bytes"] = model.file_bytes;
  json["resident_bytes"] = model.packed_bytes;
  return json;
}

}  // namespace

std::string TokenizerHash(const Tokenizer& tokenizer) {
  std::string all;
  for (TokenId token = 0; token < tokenizer.vocab_size(); ++token) {
    absl::StrAppend(&all, tokenizer.TokenText(token), tokenizer.IsControl(token) ? "\x01" : "",
                    absl::string_view("\0", 1));
  }
  return Sha256Hex(all);
}

absl::StatusOr<Json> DescribeEnvironment(const Machine& machine, const ModelPair& models,
                                         const std::string& prompt_file) {
  Json json;
  json["started"] = UtcNow();
  json["build"] = {{"version", FORERUN_VERSION},
                   {"git", FORERUN_GIT_HASH},
                   {"type", FORERUN_BUILD_TYPE},
                   {"compiler", FORERUN_COMPILER}};
  json["device"] = "cpu";
  json["isa"] = IsaName(machine.kernels().isa);
  json["numerics"] = machine.config().numerics;
  json["kv_dtype"] = machine.config().kv_dtype;
  json["threads"] = machine.num_threads();
  json["invariances"] = {{"width_invariant", "bitwise"}, {"tree_invariant", "bitwise"}};
  json["cpu"] = DescribeCpu();
  json["system"] = DescribeSystem();
  json["models"]["target"] = DescribeModel(models.target);
  if (models.draft) json["models"]["draft"] = DescribeModel(*models.draft);
  FORERUN_ASSIGN_OR_RETURN(json["inputs"]["target"], ModelInputs(models.target));
  if (models.draft) {
    FORERUN_ASSIGN_OR_RETURN(json["inputs"]["draft"], ModelInputs(*models.draft));
  }
  FORERUN_ASSIGN_OR_RETURN(json["inputs"]["prompts_sha256"], Sha256OfFile(prompt_file));
  return json;
}

}  // namespace forerun
