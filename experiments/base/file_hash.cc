#include "experiments/base/file_hash.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "experiments/base/files.h"

namespace forerun {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    FORERUN_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void Add(const void* data, std::size_t size) {
    FORERUN_CHECK(EVP_DigestUpdate(context_.get(), data, size) == 1);
  }
  std::string Finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    FORERUN_CHECK(EVP_DigestFinal_ex(context_.get(), digest, &size) == 1);
    std::string hex;
    for (unsigned i = 0; i < size; ++i) absl::StrAppend(&hex, absl::Hex(digest[i], absl::kZeroPad2));
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

std::string CacheFolder() {
  if (const char* folder = std::getenv("FORERUN_CACHE"); folder != nullptr && *folder != 0) return folder;
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : absl::StrCat(home, "/.cache/forerun");
}

// What has to be the same for a remembered hash to count.
std::string FileState(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return "";
  return absl::StrCat(info.st_size, ":", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, ":", info.st_ino);
}

}  // namespace

std::string Sha256Hex(absl::string_view bytes) {
  Sha256 hash;
  hash.Add(bytes.data(), bytes.size());
  return hash.Finish();
}

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return FileError(path, "cannot open", errno);
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0) hash.Add(buffer.data(), got);
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  if (failed) return FileError(path, "cannot read", error);
  return hash.Finish();
}

absl::StatusOr<std::string> CachedSha256OfFile(const std::string& path) {
  const std::string folder = CacheFolder();
  if (folder.empty()) return Sha256OfFile(path);
  const std::string cache_path = folder + "/hashes.json";
  std::error_code error;
  const std::string key = std::filesystem::weakly_canonical(path, error).string();
  const std::string state = FileState(path);
  Json cache = ReadJsonFile(cache_path).value_or(Json::object());
  if (!cache.is_object()) cache = Json::object();
  if (cache.contains(key) && cache[key].is_object() && cache[key].value("state", Json()) == Json(state)) {
    const Json hash = cache[key].value("sha256", Json());
    if (hash.is_string()) return hash.get<std::string>();
  }
  FORERUN_ASSIGN_OR_RETURN(std::string hash, Sha256OfFile(path));
  cache[key] = Json{{"state", state}, {"sha256", hash}};
  std::filesystem::create_directories(folder, error);
  WriteFileAtomically(cache_path, DumpJson(cache, 1)).IgnoreError();
  return hash;
}

}  // namespace forerun
