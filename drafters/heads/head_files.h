// The files of one drafting head: the tensors of its *.safetensors, however many, and its config.json.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/formats/safetensors_file.h"
#include "drafters/heads/head_math.h"

namespace forerun {

// A matrix whose rows stay in the file.
struct HeadRows {
  TensorType type = TensorType::kF32;
  const std::byte* data = nullptr;
  int64_t columns = 0;

  void Read(int64_t row, float* x) const {
    DequantizeRow(type, data + row * RowBytes(type, columns), columns, x);
  }
};

// What a drafter notes whose layout was checked on random weights alone.
inline constexpr char kNotRunOnPublished[] = "not run on published weights";

class HeadFiles {
 public:
  // `path`: a folder, whose *.safetensors together are the head; or one such file, beside which config.json
  // may lie. NotFound where there is none, DataLoss where one is damaged; in one line.
  static absl::StatusOr<HeadFiles> Open(absl::string_view path);

  const std::string& path() const { return path_; }
  // config.json, an object; empty where there is none.
  const Json& config() const { return config_; }
  bool Has(absl::string_view name) const { return index_.contains(name); }
  // Names of all tensors, in order.
  std::vector<std::string> Names() const;
  // One more than the greatest number between `prefix` and a dot in a name; 0: there is none.
  int CountNumbered(absl::string_view prefix) const;
  // [rows, columns] of a matrix; an error where the tensor is missing or no matrix.
  absl::StatusOr<std::vector<int64_t>> ShapeOf(absl::string_view name);

  // Each of these takes note that the tensor is used. NotFound where it is missing, InvalidArgument where its
  // shape or type is another.
  absl::StatusOr<HeadMatrix> Matrix(absl::string_view name, int64_t outputs, int64_t columns);
  // `module`.weight, with `module`.bias where there is one.
  absl::StatusOr<HeadMatrix> MatrixWithBias(const std::string& module, int64_t outputs, int64_t columns);
  absl::StatusOr<HeadRows> Rows(absl::string_view name, int64_t rows, int64_t columns);  // read one by one
  absl::StatusOr<std::vector<float>> Vector(absl::string_view name, int64_t size);
  absl::StatusOr<std::vector<int64_t>> Integers(absl::string_view name);  // of any shape
  void Ignore(absl::string_view name) { used_.insert(std::string(name)); }
  // A tensor that nothing reads means that the files are another head than they would be run as.
  absl::Status CheckAllUsed(absl::string_view layout) const;

 private:
  struct Place {
    std::size_t file, tensor;
  };
  struct Found {
    const SafetensorsFile& file;
    const SafetensorsTensor& tensor;
  };
  HeadFiles() = default;
  absl::Status Add(absl::string_view file);
  absl::StatusOr<Found> Find(absl::string_view name, const std::vector<int64_t>& shape);

  std::string path_;
  std::vector<SafetensorsFile> files_;
  absl::flat_hash_map<std::string, Place> index_;
  absl::flat_hash_set<std::string> used_;
  Json config_ = Json::object();
};

}  // namespace forerun
