// The forward pass once more: plain loops in double precision, straight from the definition of the three
// architectures, with no kernel, KV cache, packing or batch. It shares with the real one only the GGUF reader
// and what a stored weight is worth. Sources: Llama (arXiv:2302.13971), Qwen2 (arXiv:2407.10671), Gemma 3
// (arXiv:2503.19786), and the conventions of their GGUF files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/model/layer_subset.h"

namespace forerun {

// Logits after each token: [tokens][vocab]. Aborts where the file is not a good one. `subset`: null for all
// layers.
std::vector<std::vector<double>> PlainLogits(const std::string& path, std::span<const TokenId> tokens,
                                             const LayerSubset* subset = nullptr);

// The same, with the hidden states on the way: the residual stream as it enters each of the L layers, before
// the final norm (L), and after it (L + 1).
struct PlainForward {
  std::vector<std::vector<std::vector<double>>> states;  // [L + 2][tokens][width]
  std::vector<std::vector<double>> logits;               // [tokens][vocab]
};
PlainForward RunPlain(const std::string& path, std::span<const TokenId> tokens,
                      const LayerSubset* subset = nullptr);

}  // namespace forerun
