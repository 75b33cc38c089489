// Medusa's and EAGLE's heads once more: plain loops in double precision, from the papers and the published
// modelling files. They share with the real ones only the safetensors reader.
#pragma once

#include <string>
#include <vector>

#include "core/formats/safetensors_file.h"

namespace forerun {

using PlainVector = std::vector<double>;

// x + silu(W x + b) with the tensors `block`.weight and `block`.bias.
PlainVector PlainBlock(const SafetensorsFile& file, const std::string& block, const PlainVector& x);
// Tensor `name` times x.
PlainVector PlainProduct(const SafetensorsFile& file, const std::string& name, const PlainVector& x);

struct PlainEagleOptions {
  bool eagle3 = true;
  std::string layer = "midlayer";
  int heads = 4, kv_heads = 2, head_size = 16;
  double epsilon = 1e-5;
  double rope_base = 10000;
  bool norm_before_residual = false;
  bool norm_before_head = true;
  bool feed_back_normed = false;
};

class PlainEagle {
 public:
  PlainEagle(const SafetensorsFile& file, PlainEagleOptions options)
      : file_(file), options_(std::move(options)) {}

  // The three states of the target at one position as a feature (EAGLE-3).
  PlainVector Feature(const std::vector<PlainVector>& states) const;
  struct Row {
    PlainVector hidden;   // what the output matrix multiplies
    PlainVector feature;  // for the next row
  };
  // Row i at position i: features[i] beside embeddings[i], the one of token i + 1; sees rows 0 .. i.
  std::vector<Row> Run(const std::vector<PlainVector>& features,
                       const std::vector<PlainVector>& embeddings) const;

 private:
  PlainVector Normed(const PlainVector& x, const std::string& gain) const;
  PlainVector Attended(const std::vector<PlainVector>& inputs, std::size_t row) const;
  PlainVector Head(const PlainVector& input, const std::string& name, int head, std::size_t position) const;

  const SafetensorsFile& file_;
  PlainEagleOptions options_;
};

}  // namespace forerun
