// Each file format once as reader and once as writer of codes; the two are inverses, bit for bit.
#include "kernels/matmul/block_codes.h"

#include <cstring>

#include "kernels/formats/blocks.h"

namespace forerun {
namespace {

void ReadNibbles(const uint8_t* qs, int half_columns, uint8_t* codes) {
  for (int i = 0; i < half_columns; ++i) {
    codes[i] = qs[i] & 15;
    codes[half_columns + i] = qs[i] >> 4;
  }
}
void WriteNibbles(const uint8_t* codes, int half_columns, uint8_t* qs) {
  for (int i = 0; i < half_columns; ++i) {
    qs[i] = static_cast<uint8_t>((codes[i] & 15) | (codes[half_columns + i] & 15) << 4);
  }
}

// Q5_0, Q5_1: bit i of qh is the fifth bit of column i.
void ReadFifthBits(const uint8_t qh[4], uint8_t codes[32]) {
  for (int i = 0; i < 32; ++i) codes[i] |= ((qh[i / 8] >> (i % 8)) & 1) << 4;
}
void WriteFifthBits(const uint8_t codes[32], uint8_t qh[4]) {
  std::memset(qh, 0, 4);
  for (int i = 0; i < 32; ++i) qh[i / 8] |= ((codes[i] >> 4) & 1) << (i % 8);
}

// K-quants: field f (of `bits` bits) of byte i of a run of 32 bytes belongs to column 32 f + i; it is bits
// [code_shift, code_shift + bits) of the code.
void ReadFields(const uint8_t bytes[32], int bits, int fields, int code_shift, uint8_t* codes) {
  for (int f = 0; f < fields; ++f) {
    for (int i = 0; i < 32; ++i) {
      codes[32 * f + i] |= ((bytes[i] >> (bits * f)) & ((1 << bits) - 1)) << code_shift;
    }
  }
}
void WriteFields(const uint8_t* codes, int bits, int fields, int code_shift, uint8_t bytes[32]) {
  std::memset(bytes, 0, 32);
  for (int f = 0; f < fields; ++f) {
    for (int i = 0; i < 32; ++i) {
      bytes[i] |= ((codes[32 * f + i] >> code_shift) & ((1 << bits) - 1)) << (bits * f);
    }
  }
}

void PackKScales(const uint8_t sc[8], const uint8_t mn[8], uint8_t scales[12]) {
  for (int i = 0; i < 4; ++i) {
    scales[i] = static_cast<uint8_t>(sc[i] | (sc[4 + i] >> 4) << 6);
    scales[4 + i] = static_cast<uint8_t>(mn[i] | (mn[4 + i] >> 4) << 6);
    scales[8 + i] = static_cast<uint8_t>((sc[4 + i] & 15) | (mn[4 + i] & 15) << 4);
  }
}
void PackQ3Scales(const int8_t sc[16], uint8_t scales[12]) {
  std::memset(scales, 0, 12);
  for (int i = 0; i < 16; ++i) {
    const int value = sc[i] + 32;
    scales[i % 8] |= (value & 15) << (i < 8 ? 0 : 4);
    scales[8 + i % 4] |= (value >> 4) << (2 * (i / 4));
  }
}

void Read(const BlockQ4_0& b, BlockParts& p) { p.d = b.d, ReadNibbles(b.qs, 16, p.codes); }
void Write(const BlockParts& p, BlockQ4_0& b) { b.d = p.d, WriteNibbles(p.codes, 16, b.qs); }

void Read(const BlockQ4_1& b, BlockParts& p) { p.d = b.d, p.m = b.m, ReadNibbles(b.qs, 16, p.codes); }
void Write(const BlockParts& p, BlockQ4_1& b) { b.d = p.d, b.m = p.m, WriteNibbles(p.codes, 16, b.qs); }

void Read(const BlockQ5_0& b, BlockParts& p) {
  p.d = b.d;
  ReadNibbles(b.qs, 16, p.codes);
  ReadFifthBits(b.qh, p.codes);
}
void Write(const BlockParts& p, BlockQ5_0& b) {
  b.d = p.d;
  WriteNibbles(p.codes, 16, b.qs);
  WriteFifthBits(p.codes, b.qh);
}

void Read(const BlockQ5_1& b, BlockParts& p) {
  p.d = b.d, p.m = b.m;
  ReadNibbles(b.qs, 16, p.codes);
  ReadFifthBits(b.qh, p.codes);
}
void Write(const BlockParts& p, BlockQ5_1& b) {
  b.d = p.d, b.m = p.m;
  WriteNibbles(p.codes, 16, b.qs);
  WriteFifthBits(p.codes, b.qh);
}

void Read(const BlockQ8_0& b, BlockParts& p) {
  p.d = b.d;
  for (int i = 0; i < 32; ++i) p.codes[i] = static_cast<uint8_t>(b.qs[i] + 128);
}
void Write(const BlockParts& p, BlockQ8_0& b) {
  b.d = p.d;
  for (int i = 0; i < 32; ++i) b.qs[i] = static_cast<int8_t>(p.codes[i] - 128);
}

void Read(const BlockQ2_K& b, BlockParts& p) {
  p.d = b.d, p.m = b.dmin;
  std::memcpy(p.scales, b.scales, 16);
  for (int h = 0; h < 2; ++h) ReadFields(b.qs + 32 * h, 2, 4, 0, p.codes + 128 * h);
}
void Write(const BlockParts& p, BlockQ2_K& b) {
  b.d = p.d, b.dmin = p.m;
  std::memcpy(b.scales, p.scales, 16);
  for (int h = 0; h < 2; ++h) WriteFields(p.codes + 128 * h, 2, 4, 0, b.qs + 32 * h);
}

void Read(const BlockQ3_K& b, BlockParts& p) {
  int8_t sc[16];
  p.d = b.d;
  UnpackQ3Scales(b.scales, sc);
  std::memcpy(p.scales, sc, 16);
  for (int h = 0; h < 2; ++h) ReadFields(b.qs + 32 * h, 2, 4, 0, p.codes + 128 * h);
  ReadFields(b.hmask, 1, 8, 2, p.codes);
}
void Write(const BlockParts& p, BlockQ3_K& b) {
  int8_t sc[16];
  b.d = p.d;
  std::memcpy(sc, p.scales, 16);
  PackQ3Scales(sc, b.scales);
  for (int h = 0; h < 2; ++h) WriteFields(p.codes + 128 * h, 2, 4, 0, b.qs + 32 * h);
  WriteFields(p.codes, 1, 8, 2, b.hmask);
}

void Read(const BlockQ4_K& b, BlockParts& p) {
  p.d = b.d, p.m = b.dmin;
  UnpackKScales(b.scales, p.scales, p.scales + 8);
  for (int j = 0; j < 4; ++j) ReadFields(b.qs + 32 * j, 4, 2, 0, p.codes + 64 * j);
}
void Write(const BlockParts& p, BlockQ4_K& b) {
  b.d = p.d, b.dmin = p.m;
  PackKScales(p.scales, p.scales + 8, b.scales);
  for (int j = 0; j < 4; ++j) WriteFields(p.codes + 64 * j, 4, 2, 0, b.qs + 32 * j);
}

void Read(const BlockQ5_K& b, BlockParts& p) {
  p.d = b.d, p.m = b.dmin;
  UnpackKScales(b.scales, p.scales, p.scales + 8);
  for (int j = 0; j < 4; ++j) ReadFields(b.qs + 32 * j, 4, 2, 0, p.codes + 64 * j);
  ReadFields(b.qh, 1, 8, 4, p.codes);
}
void Write(const BlockParts& p, BlockQ5_K& b) {
  b.d = p.d, b.dmin = p.m;
  PackKScales(p.scales, p.scales + 8, b.scales);
  for (int j = 0; j < 4; ++j) WriteFields(p.codes + 64 * j, 4, 2, 0, b.qs + 32 * j);
  WriteFields(p.codes, 1, 8, 4, b.qh);
}

// ql[64 h + 32 e + i]: low nibble column 128 h + 32 e + i, high nibble 64 columns on.
void Read(const BlockQ6_K& b, BlockParts& p) {
  p.d = b.d;
  std::memcpy(p.scales, b.scales, 16);
  for (int h = 0; h < 2; ++h) {
    ReadNibbles(b.ql + 64 * h, 64, p.codes + 128 * h);
    ReadFields(b.qh + 32 * h, 2, 4, 4, p.codes + 128 * h);
  }
}
void Write(const BlockParts& p, BlockQ6_K& b) {
  b.d = p.d;
  std::memcpy(b.scales, p.scales, 16);
  for (int h = 0; h < 2; ++h) {
    WriteNibbles(p.codes + 128 * h, 64, b.ql + 64 * h);
    WriteFields(p.codes + 128 * h, 2, 4, 4, b.qh + 32 * h);
  }
}

// The nibble readers of the 32-column types overwrite codes; the field readers add to them.
template <class Block>
void ReadBlock(const void* bytes, BlockParts& parts) {
  Block block;
  std::memcpy(&block, bytes, sizeof(block));
  if constexpr (sizeof(Block) > 64) std::memset(parts.codes, 0, sizeof(parts.codes));
  Read(block, parts);
}
template <class Block>
void WriteBlock(const BlockParts& parts, void* bytes) {
  Block block;
  Write(parts, block);
  std::memcpy(bytes, &block, sizeof(block));
}

}  // namespace

void TakeApart(TensorType type, const void* block, BlockParts& parts) {
  switch (type) {
    case TensorType::kQ4_0:
      return ReadBlock<BlockQ4_0>(block, parts);
    case TensorType::kQ4_1:
      return ReadBlock<BlockQ4_1>(block, parts);
    case TensorType::kQ5_0:
      return ReadBlock<BlockQ5_0>(block, parts);
    case TensorType::kQ5_1:
      return ReadBlock<BlockQ5_1>(block, parts);
    case TensorType::kQ8_0:
      return ReadBlock<BlockQ8_0>(block, parts);
    case TensorType::kQ2_K:
      return ReadBlock<BlockQ2_K>(block, parts);
    case TensorType::kQ3_K:
      return ReadBlock<BlockQ3_K>(block, parts);
    case TensorType::kQ4_K:
      return ReadBlock<BlockQ4_K>(block, parts);
    case TensorType::kQ5_K:
      return ReadBlock<BlockQ5_K>(block, parts);
    case TensorType::kQ6_K:
      return ReadBlock<BlockQ6_K>(block, parts);
    default:
      return;
  }
}

void PutTogether(TensorType type, const BlockParts& parts, void* block) {
  switch (type) {
    case TensorType::kQ4_0:
      return WriteBlock<BlockQ4_0>(parts, block);
    case TensorType::kQ4_1:
      return WriteBlock<BlockQ4_1>(parts, block);
    case TensorType::kQ5_0:
      return WriteBlock<BlockQ5_0>(parts, block);
    case TensorType::kQ5_1:
      return WriteBlock<BlockQ5_1>(parts, block);
    case TensorType::kQ8_0:
      return WriteBlock<BlockQ8_0>(parts, block);
    case TensorType::kQ2_K:
      return WriteBlock<BlockQ2_K>(parts, block);
    case TensorType::kQ3_K:
      return WriteBlock<BlockQ3_K>(parts, block);
    case TensorType::kQ4_K:
      return WriteBlock<BlockQ4_K>(parts, block);
    case TensorType::kQ5_K:
      return WriteBlock<BlockQ5_K>(parts, block);
    case TensorType::kQ6_K:
      return WriteBlock<BlockQ6_K>(parts, block);
    default:
      return;
  }
}

}  // namespace forerun
