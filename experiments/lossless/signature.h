// One number for everything that decides which tokens come out: every registered drafter under every rule
// that accepts it, through the real engine, on exact toy models. A change that keeps it is a refactoring by
// proof.
//
// The same on every machine: the tables are multiples of 1/64, their logarithms and all random numbers are
// basic IEEE arithmetic. The C library enters only through exp, when logits become weights; its last bit
// could matter only to a uniform within 1e-15 of a boundary, and the seeds are fixed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace forerun {

struct SignaturePart {
  std::string pairing;  // "ngram, rejection, temperature 1"
  uint64_t hash = 0;    // of tokens and accepted lengths, round by round
};

inline constexpr uint64_t kSignatureSeed = 20231;
absl::StatusOr<std::vector<SignaturePart>> SignatureParts(uint64_t seed);

// 16 hex digits.
std::string HashText(uint64_t hash);
std::string SignatureOf(const std::vector<SignaturePart>& parts);

}  // namespace forerun
