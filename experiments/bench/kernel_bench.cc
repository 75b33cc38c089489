#include "experiments/bench/kernel_bench.h"

namespace forerun {

bool RunKernelBenchmarks(const std::string& filter, bool json) {
  std::vector<std::string> arguments = {"forerun", "--benchmark_filter=" + filter,
                                        json ? "--benchmark_format=json" : "--benchmark_format=console"};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  const bool ran = benchmark::RunSpecifiedBenchmarks() > 0;
  benchmark::Shutdown();
  return ran;
}

}  // namespace forerun
