// The project's own exp, the same bits on every machine: x = n ln 2 + r, a polynomial of degree 6 in r, then
// n goes into the exponent. Relative error below 1.2e-7 (2 ulp). Below -87: 0; above 88: +inf; NaN: NaN.
// Exp(0) is 1.
#pragma once

namespace forerun {

float Exp(float x);

namespace exp_constants {

inline constexpr float kZeroBelow = -87.0f;
inline constexpr float kInfinityAbove = 88.0f;
inline constexpr float kLog2E = 0x1.715476p+0f;
// 1.5 * 2^23: adding it rounds to an integer (ties to even) and leaves that integer in the low bits.
inline constexpr float kRound = 12582912.0f;
inline constexpr float kLn2High = 0x1.62e43p-1f;
inline constexpr float kLn2Low = -0x1.05c61p-29f;
// Minimax for the relative error of 1 + r + r^2 (c2 + c3 r + ...) over |r| <= 0.3467: 3.1e-9.
inline constexpr float kC2 = 0x1.fffffcp-2f;
inline constexpr float kC3 = 0x1.555492p-3f;
inline constexpr float kC4 = 0x1.5558f2p-5f;
inline constexpr float kC5 = 0x1.123a0ap-7f;
inline constexpr float kC6 = 0x1.6a23f2p-10f;

}  // namespace exp_constants
}  // namespace forerun
