#include "drafters/heads/head_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/damage.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

namespace fs = std::filesystem;

// Sorted, so that messages do not depend on the file system.
std::vector<std::string> SafetensorsIn(const fs::path& folder, std::string* pickle) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".safetensors") files.push_back(entry.path().string());
    if (extension == ".bin" || extension == ".pt") *pickle = entry.path().filename().string();
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<HeadFiles> HeadFiles::Open(absl::string_view path) {
  HeadFiles head;
  head.path_ = std::string(path);
  const fs::path given(head.path_);
  std::error_code error;
  std::vector<std::string> files = {head.path_};
  const bool is_folder = fs::is_directory(given, error);
  if (is_folder) {
    std::string pickle;
    files = SafetensorsIn(given, &pickle);
    if (files.empty()) {
      return absl::NotFoundError(absl::StrCat(
          path, ": expected a folder with *.safetensors, found ",
          pickle.empty() ? "none" : absl::StrCat(pickle, ", which must be converted to safetensors")));
    }
  }
  for (const std::string& file : files) FORERUN_RETURN_IF_ERROR(head.Add(file));
  const fs::path config = (is_folder ? given : given.parent_path()) / "config.json";
  if (fs::exists(config, error)) {
    FORERUN_ASSIGN_OR_RETURN(head.config_, AsDamage(ReadJsonFile(config.string())));
    if (!head.config_.is_object()) {
      return absl::DataLossError(absl::StrCat(config.string(), ": expected an object, found other JSON"));
    }
  }
  return head;
}

absl::Status HeadFiles::Add(absl::string_view path) {
  FORERUN_ASSIGN_OR_RETURN(SafetensorsFile file, AsDamage(SafetensorsFile::Open(path)));
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const SafetensorsTensor& tensor = file.tensors()[i];
    if (index_.emplace(tensor.name, Place{files_.size(), i}).second) continue;
    return file.Error(tensor, "a name that no other file of the head has",
                      absl::StrCat("it in ", files_[index_[tensor.name].file].path(), " as well"));
  }
  files_.push_back(std::move(file));
  return absl::OkStatus();
}

std::vector<std::string> HeadFiles::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : index_) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

int HeadFiles::CountNumbered(absl::string_view prefix) const {
  int count = 0;
  for (const auto& entry : index_) {
    absl::string_view rest = entry.first;
    int number = -1;
    if (!absl::ConsumePrefix(&rest, prefix) || rest.find('.') == absl::string_view::npos) continue;
    if (absl::SimpleAtoi(rest.substr(0, rest.find('.')), &number)) count = std::max(count, number + 1);
  }
  return count;
}

absl::StatusOr<HeadFiles::Found> HeadFiles::Find(absl::string_view name, const std::vector<int64_t>& shape) {
  const auto found = index_.find(name);
  if (found == index_.end()) {
    return absl::NotFoundError(
        absl::StrCat(path_, ": expected tensor '", name, "', found none of that name"));
  }
  const SafetensorsFile& file = files_[found->second.file];
  const SafetensorsTensor& tensor = file.tensors()[found->second.tensor];
  used_.insert(tensor.name);
  if (!shape.empty()) FORERUN_RETURN_IF_ERROR(file.CheckShape(tensor, shape));
  return Found{file, tensor};
}

absl::StatusOr<std::vector<int64_t>> HeadFiles::ShapeOf(absl::string_view name) {
  FORERUN_ASSIGN_OR_RETURN(const Found found, Find(name, {}));
  if (found.tensor.shape.size() == 2) return found.tensor.shape;
  return found.file.Error(found.tensor, "two dimensions", absl::StrCat(found.tensor.shape.size()));
}

absl::StatusOr<HeadMatrix> HeadFiles::Matrix(absl::string_view name, int64_t outputs, int64_t columns) {
  FORERUN_ASSIGN_OR_RETURN(const Found found, Find(name, {outputs, columns}));
  FORERUN_ASSIGN_OR_RETURN(const TensorType type, found.file.FloatType(found.tensor));
  return PackHeadMatrix(type, found.tensor.data, outputs, columns);
}

absl::StatusOr<HeadMatrix> HeadFiles::MatrixWithBias(const std::string& module, int64_t outputs,
                                                     int64_t columns) {
  FORERUN_ASSIGN_OR_RETURN(HeadMatrix matrix, Matrix(module + ".weight", outputs, columns));
  if (Has(module + ".bias")) {
    FORERUN_ASSIGN_OR_RETURN(matrix.bias, Vector(module + ".bias", outputs));
  }
  return matrix;
}

absl::StatusOr<HeadRows> HeadFiles::Rows(absl::string_view name, int64_t rows, int64_t columns) {
  FORERUN_ASSIGN_OR_RETURN(const Found found, Find(name, {rows, columns}));
  FORERUN_ASSIGN_OR_RETURN(const TensorType type, found.file.FloatType(found.tensor));
  return HeadRows{type, found.tensor.data.data(), columns};
}

absl::StatusOr<std::vector<float>> HeadFiles::Vector(absl::string_view name, int64_t size) {
  FORERUN_ASSIGN_OR_RETURN(const Found found, Find(name, {size}));
  return found.file.Floats(found.tensor);
}

absl::StatusOr<std::vector<int64_t>> HeadFiles::Integers(absl::string_view name) {
  FORERUN_ASSIGN_OR_RETURN(const Found found, Find(name, {}));
  return found.file.Integers(found.tensor);
}

absl::Status HeadFiles::CheckAllUsed(absl::string_view layout) const {
  for (const std::string& name : Names()) {
    if (used_.contains(name)) continue;
    const Place& place = index_.find(name)->second;
    const SafetensorsFile& file = files_[place.file];
    return file.Error(file.tensors()[place.tensor], absl::StrCat("only the tensors of ", layout),
                      "this one as well");
  }
  return absl::OkStatus();
}

}  // namespace forerun
