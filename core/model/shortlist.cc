#include "core/model/shortlist.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"

namespace forerun {
namespace {

struct GatherArgs {
  const PackedMatrix& head;
  const std::vector<TokenId>& ids;
  std::byte* packed;
};

// Unit: one group of the shortlist.
void GatherGroups(const GatherArgs& args, WorkRange range, Lane&) {
  const PackedMatrix& head = args.head;
  const std::size_t row_bytes = RowBytes(head.type, head.columns);
  const std::size_t group_bytes = PackedGroupBytes(head.type, head.columns);
  std::vector<std::byte> source(kPackedOutputs * row_bytes), gathered(kPackedOutputs * row_bytes);
  int64_t unpacked = -1;  // the group of the head that `source` holds
  for (int64_t group = range.begin; group < range.end; ++group) {
    const int64_t first = group * kPackedOutputs;
    const int rows =
        static_cast<int>(std::min<int64_t>(kPackedOutputs, static_cast<int64_t>(args.ids.size()) - first));
    for (int i = 0; i < rows; ++i) {
      const int64_t id = args.ids[first + i];
      if (const int64_t wanted = id / kPackedOutputs; wanted != unpacked) {
        unpacked = wanted;
        const int64_t present = std::min<int64_t>(kPackedOutputs, head.outputs - unpacked * kPackedOutputs);
        UnpackGroup(head.type, head.data + unpacked * group_bytes, static_cast<int>(present), head.columns,
                    source.data());
      }
      std::memcpy(gathered.data() + i * row_bytes, source.data() + id % kPackedOutputs * row_bytes,
                  row_bytes);
    }
    PackGroup(head.type, gathered.data(), rows, head.columns, args.packed + group * group_bytes);
  }
}

}  // namespace

void PackShortlist(const PackedMatrix& head, ThreadPool& threads, Shortlist& shortlist) {
  FORERUN_CHECK(!shortlist.ids.empty() && shortlist.ids.back() < head.outputs);
  const int64_t outputs = static_cast<int64_t>(shortlist.ids.size());
  shortlist.storage = Buffer(PackedBytes(head.type, outputs, head.columns));
  shortlist.rows = {head.type, outputs, head.columns, shortlist.storage.data()};
  threads.Run(&GatherGroups, GatherArgs{head, shortlist.ids, shortlist.storage.data()}, PackedGroups(outputs),
              16);
}

}  // namespace forerun
