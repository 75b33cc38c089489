// Tests over the variants of a kernel: one named test per instruction set, skipped aloud where the machine
// lacks it.
//   class AddTest : public testing::TestWithParam<Isa> {};
//   FORERUN_FOR_EACH_ISA(AddTest);
//   TEST_P(AddTest, Matches) { FORERUN_SKIP_UNLESS_SUPPORTED(GetParam()); kAdd.Exactly(GetParam())(...); }
#pragma once

#include <gtest/gtest.h>

#include "kernels/isa.h"

#define FORERUN_FOR_EACH_ISA(suite)                                            \
  INSTANTIATE_TEST_SUITE_P(Isa, suite, testing::ValuesIn(::forerun::kAllIsas), \
                           [](const auto& info) { return std::string(::forerun::IsaName(info.param)); })

#define FORERUN_SKIP_UNLESS_SUPPORTED(isa)                              \
  if (static_cast<int>(::forerun::DetectIsa()) < static_cast<int>(isa)) \
  GTEST_SKIP() << "this machine has no " << ::forerun::IsaName(isa)
