#include "core/model/packed_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/model/weights.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"
#include "tests/support/random_model.h"

namespace forerun {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void SetTime(const std::string& path, int64_t nanoseconds) {
  const timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  const timespec times[2] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

struct Loaded {
  GgufFile file;
  ModelWeights weights;
  std::string packed() const {
    return {reinterpret_cast<const char*>(weights.packed.data), weights.packed_bytes};
  }
};

class PackedCacheTest : public testing::Test {
 protected:
  PackedCacheTest() { WriteModel(1); }

  void WriteModel(uint32_t seed) {
    WriteFile(model_, ModelParts({.architecture = "qwen2", .type = TensorType::kQ4_K, .seed = seed}).Build());
    SetTime(model_, 1700000000123456789);
  }
  Loaded Load(const std::string& path, const PackedCacheOptions& cache) {
    absl::StatusOr<GgufFile> file = GgufFile::Open(path);
    EXPECT_TRUE(file.ok()) << file.status();
    const absl::StatusOr<ModelConfig> config = ReadModelConfig(*file);
    EXPECT_TRUE(config.ok()) << config.status();
    absl::StatusOr<ModelWeights> weights = LoadWeights(*file, *config, threads_, cache);
    EXPECT_TRUE(weights.ok()) << weights.status();
    return {*std::move(file), *std::move(weights)};
  }
  Loaded LoadCached() { return Load(model_, {.enabled = true, .least_bytes = 0}); }

  TemporaryFolder folder_{"packed-cache"};
  const std::string model_ = folder_ / "model.gguf";
  const std::string cache_ = model_ + ".packed";
  ThreadPool threads_{2};
};

TEST_F(PackedCacheTest, TheSecondLoadHasTheSameWeightsFromTheCache) {
  const Loaded plain = Load(model_, {});
  EXPECT_FALSE(std::filesystem::exists(cache_));
  const Loaded first = LoadCached();
  EXPECT_FALSE(first.weights.from_cache);
  EXPECT_THAT(first.weights.note, testing::HasSubstr("wrote"));
  const Loaded second = LoadCached();
  EXPECT_TRUE(second.weights.from_cache);
  EXPECT_EQ(second.weights.note, "");
  EXPECT_EQ(first.packed(), plain.packed());
  EXPECT_EQ(second.packed(), plain.packed());
  for (std::size_t i = 0; i < plain.weights.layers.size(); ++i) {
    const auto place = [i](const Loaded& loaded) {
      return loaded.weights.layers[i].down.matrix.data - loaded.weights.packed.data;
    };
    EXPECT_EQ(place(second), place(plain));
    EXPECT_EQ(second.weights.layers[i].q.bias, plain.weights.layers[i].q.bias);
  }
  EXPECT_FALSE(std::filesystem::exists(cache_ + ".tmp"));
}

TEST_F(PackedCacheTest, MappedAndCopiedAreTheSame) {
  const std::string packed = LoadCached().packed();
  const Loaded loaded = Load(model_, {});
  PackedKey key;
  std::memcpy(&key, ReadFile(cache_).data() + 8, sizeof(key));
  for (const PackedResidence residence : {PackedResidence::kMapped, PackedResidence::kCopied}) {
    const std::optional<PackedPayload> payload = ReadPackedCache(cache_, key, threads_, residence);
    ASSERT_TRUE(payload.has_value());
    EXPECT_EQ(payload->file.has_value(), residence == PackedResidence::kMapped);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(payload->data), packed.size()), packed);
  }
  ++key.layout;
  EXPECT_FALSE(ReadPackedCache(cache_, key, threads_).has_value());
}

TEST_F(PackedCacheTest, ADamagedFileIsWrittenAnew) {
  const std::string packed = LoadCached().packed();
  const std::string good = ReadFile(cache_);
  std::vector<std::string> damaged = {"", good.substr(0, 20), good.substr(0, good.size() - 1), good + "x"};
  for (std::size_t at = 0; at < 64; at += 7) damaged.push_back(good), damaged.back()[at] ^= 1;  // header
  for (const std::size_t at : {std::size_t{70}, std::size_t{4000}, good.size() - packed.size(),
                               good.size() - packed.size() / 2, good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 64;
  }
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    WriteFile(cache_, damaged[i]);
    const Loaded loaded = LoadCached();
    EXPECT_FALSE(loaded.weights.from_cache) << i;
    EXPECT_EQ(loaded.packed(), packed) << i;
    EXPECT_EQ(ReadFile(cache_), good) << i;
  }
}

TEST_F(PackedCacheTest, AnotherModelOfTheSameSizeAndTimeIsTold) {
  const std::string first = LoadCached().packed();
  WriteModel(2);
  const Loaded other = LoadCached();
  EXPECT_FALSE(other.weights.from_cache);
  EXPECT_NE(other.packed(), first);
  EXPECT_EQ(LoadCached().packed(), other.packed());
}

TEST_F(PackedCacheTest, AModelOfAnotherTimeIsPackedAgain) {
  LoadCached();
  SetTime(model_, 1700000000123456790);
  EXPECT_FALSE(LoadCached().weights.from_cache);
  EXPECT_TRUE(LoadCached().weights.from_cache);
}

TEST_F(PackedCacheTest, ACacheThatCannotBeWrittenIsOneLine) {
  std::filesystem::create_directory(cache_ + ".tmp");
  const Loaded loaded = LoadCached();
  EXPECT_EQ(loaded.packed(), Load(model_, {}).packed());
  EXPECT_THAT(loaded.weights.note, testing::HasSubstr("model.gguf.packed.tmp: cannot create"));
  std::filesystem::remove(cache_ + ".tmp");
  std::filesystem::create_directories(cache_ + "/full");
  EXPECT_THAT(LoadCached().weights.note, testing::HasSubstr("cannot rename"));
  EXPECT_FALSE(std::filesystem::exists(cache_ + ".tmp"));
}

TEST_F(PackedCacheTest, WhatAKilledWriterLeftIsUsedAgain) {
  WriteFile(cache_ + ".tmp", std::string(10 << 20, 'x'));
  LoadCached();
  EXPECT_TRUE(LoadCached().weights.from_cache);
  EXPECT_FALSE(std::filesystem::exists(cache_ + ".tmp"));
}

TEST_F(PackedCacheTest, OnlyOneWritesAtATime) {
  const int other = open((cache_ + ".tmp").c_str(), O_CREAT | O_WRONLY, 0644);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  const Loaded loaded = LoadCached();
  EXPECT_EQ(loaded.packed(), Load(model_, {}).packed());
  EXPECT_FALSE(std::filesystem::exists(cache_));
  close(other);
}

TEST_F(PackedCacheTest, LiesBesideTheRealFile) {
  const std::string links = folder_ / "links";
  std::filesystem::create_directory(links);
  std::filesystem::create_symlink(model_, links + "/link.gguf");
  Load(links + "/link.gguf", {.enabled = true, .least_bytes = 0});
  EXPECT_TRUE(std::filesystem::exists(cache_));
  EXPECT_TRUE(LoadCached().weights.from_cache);
}

TEST_F(PackedCacheTest, SmallModelsAreNotKept) {
  EXPECT_EQ(Load(model_, {.enabled = true}).weights.note, "");
  EXPECT_FALSE(std::filesystem::exists(cache_));
}

}  // namespace
}  // namespace forerun
