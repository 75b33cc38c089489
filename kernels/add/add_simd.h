// add.h over a Lanes type. Rows are contiguous, so a range of rows is one long array.
#pragma once

#include "kernels/add/add.h"

namespace forerun {

template <class Lanes>
void AddLanes(const AddArgs& args, WorkRange rows) {
  const int64_t end = rows.end * args.columns;
  int64_t i = rows.begin * args.columns;
  for (; i + 16 <= end; i += 16) (Lanes::Load(args.y + i) + Lanes::Load(args.x + i)).Store(args.y + i);
  if (i == end) return;
  const int rest = static_cast<int>(end - i);
  (Lanes::LoadFirst(args.y + i, rest, 0) + Lanes::LoadFirst(args.x + i, rest, 0))
      .StoreFirst(args.y + i, rest);
}

}  // namespace forerun
