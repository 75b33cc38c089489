// Rows to interleaved groups and back; packed_layout.h has the bytes of each type.
#include "kernels/matmul/packed_matrix.h"

#include <cstring>

#include "kernels/formats/blocks.h"
#include "kernels/matmul/block_codes.h"
#include "kernels/matmul/packed_layout.h"

namespace forerun {
namespace {

constexpr std::size_t kVector = 64;

std::size_t RoundUp(std::size_t bytes) { return (bytes + kVector - 1) / kVector * kVector; }

// The four codes of each k-group of 32 columns move as one 32-bit word: bit fields of all four at once.
constexpr uint32_t Mask(int bits) { return ((1u << bits) - 1) * 0x01010101u; }

// Adds bits [shift, shift + bits) of each code to `vectors`, k-groups_per_vector fields a byte. `adjacent`:
// vector v holds neighbouring k-groups; otherwise k-groups v, v + number of vectors, ...
struct Plane {
  int bits;
  int shift;
  bool adjacent;

  int Vectors() const { return bits; }  // 8 k-groups of `bits` bits in bytes of 8
  int Vector(int k) const { return adjacent ? k / (8 / bits) : k % bits; }
  int Position(int k) const { return (adjacent ? k % (8 / bits) : k / bits) * bits; }
};

void WritePlane(const Plane& plane, const uint8_t codes[32], int output, std::byte* vectors) {
  for (int k = 0; k < 8; ++k) {
    std::byte* at = vectors + plane.Vector(k) * kVector + output * 4;
    uint32_t code, word;
    std::memcpy(&code, codes + 4 * k, 4);
    std::memcpy(&word, at, 4);
    word |= ((code >> plane.shift) & Mask(plane.bits)) << plane.Position(k);
    std::memcpy(at, &word, 4);
  }
}

void ReadPlane(const Plane& plane, const std::byte* vectors, int output, uint8_t codes[32]) {
  for (int k = 0; k < 8; ++k) {
    uint32_t code, word;
    std::memcpy(&word, vectors + plane.Vector(k) * kVector + output * 4, 4);
    std::memcpy(&code, codes + 4 * k, 4);
    code |= ((word >> plane.Position(k)) & Mask(plane.bits)) << plane.shift;
    std::memcpy(codes + 4 * k, &code, 4);
  }
}

Plane LowPlane(const PackedLayout& layout) { return {layout.low_bits, 0, layout.low_bits == 2}; }
Plane HighPlane(const PackedLayout& layout) { return {layout.high_bits, layout.low_bits, true}; }

void WriteCodes(const PackedLayout& layout, const uint8_t codes[32], int output, std::byte* at) {
  WritePlane(LowPlane(layout), codes, output, at);
  if (layout.high_bits > 0) WritePlane(HighPlane(layout), codes, output, at + layout.low_bits * kVector);
}

void ReadCodes(const PackedLayout& layout, const std::byte* at, int output, uint8_t codes[32]) {
  std::memset(codes, 0, 32);
  ReadPlane(LowPlane(layout), at, output, codes);
  if (layout.high_bits > 0) ReadPlane(HighPlane(layout), at + layout.low_bits * kVector, output, codes);
}

// The 6-bit scales of Q4_K and Q5_K: [which][sub-block], which = 0 for sc and 1 for mn.
void WriteSixBits(const uint8_t scales[16], int output, uint8_t* at) {
  for (int which = 0; which < 2; ++which) {
    for (int sub = 0; sub < 8; ++sub) {
      const int value = scales[8 * which + sub];
      at[sub * 16 + output] |= (value & 15) << (4 * which);
      at[128 + sub % 4 * 16 + output] |= (value >> 4) << (2 * which + sub / 4 * 4);
    }
  }
}
void ReadSixBits(const uint8_t* at, int output, uint8_t scales[16]) {
  for (int which = 0; which < 2; ++which) {
    for (int sub = 0; sub < 8; ++sub) {
      const int low = (at[sub * 16 + output] >> (4 * which)) & 15;
      const int high = (at[128 + sub % 4 * 16 + output] >> (2 * which + sub / 4 * 4)) & 3;
      scales[8 * which + sub] = static_cast<uint8_t>(low | high << 4);
    }
  }
}

void WriteScales(const PackedLayout& layout, const BlockParts& parts, int output, std::byte* at) {
  std::memcpy(at + 2 * output, &parts.d, 2);
  if (layout.has_min) std::memcpy(at + 32 + 2 * output, &parts.m, 2);
  uint8_t* bytes = reinterpret_cast<uint8_t*>(at) + (layout.has_min ? 64 : 32);
  if (layout.sub_columns == 16) {
    for (int sub = 0; sub < 16; ++sub) bytes[sub * 16 + output] = parts.scales[sub];
  } else if (layout.unit_columns == kSuperBlockColumns) {
    WriteSixBits(parts.scales, output, bytes);
  }
}

void ReadScales(const PackedLayout& layout, const std::byte* at, int output, BlockParts& parts) {
  std::memcpy(&parts.d, at + 2 * output, 2);
  if (layout.has_min) std::memcpy(&parts.m, at + 32 + 2 * output, 2);
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(at) + (layout.has_min ? 64 : 32);
  if (layout.sub_columns == 16) {
    for (int sub = 0; sub < 16; ++sub) parts.scales[sub] = bytes[sub * 16 + output];
  } else if (layout.unit_columns == kSuperBlockColumns) {
    ReadSixBits(bytes, output, parts.scales);
  }
}

// Calls fn(element size, row's element, group's element) for each weight of a float type.
template <class Fn>
void ForEachFloat(TensorType type, int num_rows, int64_t columns, Fn fn) {
  const std::size_t size = Info(type).block_bytes;
  for (int row = 0; row < num_rows; ++row) {
    for (int64_t c = 0; c < columns; ++c)
      fn(size, (row * columns + c) * size, (c * kPackedOutputs + row) * size);
  }
}

}  // namespace

std::size_t PackedGroupBytes(TensorType type, int64_t columns) {
  if (IsFloat(type))
    return RoundUp(static_cast<std::size_t>(columns) * kPackedOutputs * Info(type).block_bytes);
  const PackedLayout layout = LayoutOf(type);
  return RoundUp(static_cast<std::size_t>(columns / layout.unit_columns) * layout.UnitBytes());
}

void PackGroup(TensorType type, const void* rows, int num_rows, int64_t columns, std::byte* group) {
  std::memset(group, 0, PackedGroupBytes(type, columns));
  const auto* source = static_cast<const std::byte*>(rows);
  if (IsFloat(type)) {
    ForEachFloat(type, num_rows, columns, [&](std::size_t size, std::size_t from, std::size_t to) {
      std::memcpy(group + to, source + from, size);
    });
    return;
  }
  const PackedLayout layout = LayoutOf(type);
  const TensorTypeInfo& info = Info(type);
  BlockParts parts;
  for (int row = 0; row < num_rows; ++row) {
    for (int64_t unit = 0; unit < columns / layout.unit_columns; ++unit, source += info.block_bytes) {
      TakeApart(type, source, parts);
      std::byte* scales = group + unit * layout.UnitBytes();
      std::byte* codes = scales + layout.scale_bytes;
      WriteScales(layout, parts, row, scales);
      for (int b = 0; b < layout.unit_columns / 32; ++b) {
        WriteCodes(layout, parts.codes + 32 * b, row, codes + b * layout.CodeBytes());
      }
    }
  }
}

void UnpackGroup(TensorType type, const std::byte* group, int num_rows, int64_t columns, void* rows) {
  auto* target = static_cast<std::byte*>(rows);
  if (IsFloat(type)) {
    ForEachFloat(type, num_rows, columns, [&](std::size_t size, std::size_t to, std::size_t from) {
      std::memcpy(target + to, group + from, size);
    });
    return;
  }
  const PackedLayout layout = LayoutOf(type);
  const TensorTypeInfo& info = Info(type);
  BlockParts parts;
  for (int row = 0; row < num_rows; ++row) {
    for (int64_t unit = 0; unit < columns / layout.unit_columns; ++unit, target += info.block_bytes) {
      const std::byte* scales = group + unit * layout.UnitBytes();
      const std::byte* codes = scales + layout.scale_bytes;
      ReadScales(layout, scales, row, parts);
      for (int b = 0; b < layout.unit_columns / 32; ++b) {
        ReadCodes(layout, codes + b * layout.CodeBytes(), row, parts.codes + 32 * b);
      }
      PutTogether(type, parts, target);
    }
  }
}

}  // namespace forerun
