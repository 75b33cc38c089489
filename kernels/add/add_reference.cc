// The definition of add.h in plain loops.
#include "kernels/add/add.h"

namespace forerun {

void AddReference(const AddArgs& args, WorkRange rows, Lane&) {
  for (int64_t i = rows.begin * args.columns; i < rows.end * args.columns; ++i) args.y[i] += args.x[i];
}

}  // namespace forerun
