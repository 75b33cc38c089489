#include "experiments/base/file_hash.h"

#include <fstream>
#include <string>

#include "experiments/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace forerun {
namespace {

TEST(FileHash, KnownAnswer) {  // FIPS 180-4
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(FileHash, CacheNoticesChanges) {
  const TemporaryFolder folder("hash");
  setenv("FORERUN_CACHE", folder.path().c_str(), 1);
  const std::string path = folder / "model.gguf";
  ASSERT_TRUE(WriteFileAtomically(path, "abc").ok());
  EXPECT_EQ(*CachedSha256OfFile(path), Sha256Hex("abc"));
  EXPECT_EQ(*CachedSha256OfFile(path), Sha256Hex("abc"));
  EXPECT_THAT(*ReadFile(folder / "hashes.json"), ::testing::HasSubstr("model.gguf"));
  ASSERT_TRUE(WriteFileAtomically(path, "abd").ok());
  EXPECT_EQ(*CachedSha256OfFile(path), Sha256Hex("abd"));
  std::ofstream(folder / "hashes.json") << "damaged";
  EXPECT_EQ(*CachedSha256OfFile(path), Sha256Hex("abd"));
  unsetenv("FORERUN_CACHE");
}

TEST(FileHash, CacheThatCannotBeWrittenIsNoError) {
  const TemporaryFolder folder("hash");
  setenv("FORERUN_CACHE", "/proc/nowhere", 1);
  ASSERT_TRUE(WriteFileAtomically(folder / "f", "abc").ok());
  EXPECT_EQ(*CachedSha256OfFile(folder / "f"), Sha256Hex("abc"));
  unsetenv("FORERUN_CACHE");
  EXPECT_EQ(CachedSha256OfFile(folder / "none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace forerun
