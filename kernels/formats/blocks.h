// The blocks of GGUF's quantised tensor types, byte for byte as ggml writes them (little-endian; scales are
// halves). Functions have internal linkage: files compiled for different instruction sets include this
// header, and none may lend its machine code to another.
#pragma once

#include <cstdint>

namespace forerun {

inline constexpr int kBlockColumns = 32;        // Q4_0 .. Q8_0
inline constexpr int kSuperBlockColumns = 256;  // K-quants

// Nibble i of qs is column i (low) and i + 16 (high); bit i of qh is the fifth bit of column i.
struct BlockQ4_0 {
  uint16_t d;
  uint8_t qs[16];
};
struct BlockQ4_1 {
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
};
struct BlockQ5_0 {
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
};
struct BlockQ5_1 {
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
};
struct BlockQ8_0 {
  uint16_t d;
  int8_t qs[32];
};

// Column 128 h + 32 j + i (i < 32) is bits 2j, 2j + 1 of qs[32 h + i]; sub-blocks of 16 columns.
struct BlockQ2_K {
  uint8_t scales[16];  // low nibble: scale, high nibble: minimum
  uint8_t qs[64];
  uint16_t d;
  uint16_t dmin;
};
// qs as in Q2_K; bit 4 h + j of hmask[i] set: the column is not lowered by 4.
struct BlockQ3_K {
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];  // UnpackQ3Scales
  uint16_t d;
};
// Column 64 j + i (i < 32) is the low nibble of qs[32 j + i], column 64 j + 32 + i the high one; sub-blocks
// of 32.
struct BlockQ4_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];  // UnpackKScales
  uint8_t qs[128];
};
// qs as in Q4_K; bit s of qh[i] is the fifth bit of column 32 s + i.
struct BlockQ5_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];  // UnpackKScales
  uint8_t qh[32];
  uint8_t qs[128];
};
// Column 128 h + 32 j + i (i < 32): four bits from ql[64 h + 32 (j % 2) + i] (low nibble for j < 2, high
// after), two more from bits 2j, 2j + 1 of qh[32 h + i]; sub-blocks of 16.
struct BlockQ6_K {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20);
static_assert(sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210);

// Scales and minima (0..63) of the eight sub-blocks of Q4_K and Q5_K.
static inline void UnpackKScales(const uint8_t scales[12], uint8_t sc[8], uint8_t mn[8]) {
  for (int i = 0; i < 4; ++i) {
    sc[i] = scales[i] & 63;
    mn[i] = scales[4 + i] & 63;
    sc[4 + i] = static_cast<uint8_t>((scales[8 + i] & 15) | ((scales[i] >> 6) << 4));
    mn[4 + i] = static_cast<uint8_t>((scales[8 + i] >> 4) | ((scales[4 + i] >> 6) << 4));
  }
}

// Scales (-32..31) of the sixteen sub-blocks of Q3_K.
static inline void UnpackQ3Scales(const uint8_t scales[12], int8_t sc[16]) {
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? scales[i] & 15 : scales[i - 8] >> 4;
    const int high = (scales[8 + i % 4] >> (2 * (i / 4))) & 3;
    sc[i] = static_cast<int8_t>((low | (high << 4)) - 32);
  }
}

}  // namespace forerun
