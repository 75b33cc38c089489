// exp of doubles that are not above 0, the same bits on every machine: x = n ln 2 + r, Taylor's polynomial of
// degree 13 in r, then n goes into the exponent. Relative error below 2.3e-16. Exp64(0) is 1; below -708, and
// of a NaN, 0.
#pragma once

namespace forerun {

double Exp64(double x);

namespace exp64_constants {

inline constexpr double kZeroBelow = -708;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
// 1.5 * 2^52: adding it rounds to an integer (ties to even) and leaves that integer in the low bits.
inline constexpr double kRound = 0x1.8p52;
inline constexpr double kLn2High = 0x1.62e42fee00000p-1;  // times any n here: exact
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr int kDegree = 13;  // what is left out is below 4e-18 over |r| <= 0.3467
// 1 / k! of k = 13, 12 ... 0
inline constexpr double kTaylor[kDegree + 1] = {
    1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
    1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1,           1};

}  // namespace exp64_constants
}  // namespace forerun
