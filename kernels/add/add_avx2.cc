#include "kernels/add/add_simd.h"
#include "kernels/simd/lanes_avx2.h"

namespace forerun {

void AddAvx2(const AddArgs& args, WorkRange rows, Lane&) { AddLanes<avx2::Lanes>(args, rows); }

}  // namespace forerun
