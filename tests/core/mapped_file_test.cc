// What a path can be other than a file that stays as it is.
#include "core/formats/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/formats/gguf_file.h"
#include "tests/support/gguf_builder.h"

namespace forerun {
namespace {

constexpr size_t kBytes = 1 << 16;

::testing::AssertionResult IsRefused(const std::string& path, absl::string_view found) {
  const absl::Status status = GgufFile::Open(path).status();
  if (!status.ok() &&
      status.message() == absl::StrCat(path, ": expected a regular file that can be read, found ", found)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << status;
}

TEST(MappedFileTest, BytesComeBack) {
  const std::string path = WriteTemporaryFile("bytes", "hello");
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const MappedFile moved = *std::move(file);
  ASSERT_EQ(moved.bytes().size(), 5u);
  EXPECT_EQ(std::to_integer<char>(moved.bytes()[4]), 'o');
  EXPECT_EQ(moved.path(), path);
  EXPECT_TRUE(moved.CheckUnchanged().ok());
}

TEST(MappedFileTest, EmptyFileHasNoBytes) {
  const auto file = MappedFile::Open(WriteTemporaryFile("empty", ""));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFileTest, MissingFile) {
  EXPECT_TRUE(IsRefused("/no/such/file", "'No such file or directory'"));
  EXPECT_TRUE(absl::IsNotFound(GgufFile::Open("/no/such/file").status()));
  EXPECT_TRUE(absl::IsNotFound(GgufFile::Open("").status()));
}

TEST(MappedFileTest, Directory) { EXPECT_TRUE(IsRefused(::testing::TempDir(), "a directory")); }

TEST(MappedFileTest, FifoDoesNotBlock) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", getpid(), "-fifo");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(IsRefused(path, "a FIFO"));
  unlink(path.c_str());
}

TEST(MappedFileTest, Device) { EXPECT_TRUE(IsRefused("/dev/null", "a device or socket")); }

TEST(MappedFileTest, NoPermission) {
  constexpr uid_t kNobody = 65534;
  const std::string path = WriteTemporaryFile("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const uid_t user = geteuid();
  if (user == 0 && seteuid(kNobody) != 0) GTEST_SKIP() << "the superuser may read everything";
  EXPECT_TRUE(IsRefused(path, "'Permission denied'"));
  ASSERT_EQ(seteuid(user), 0);
}

TEST(MappedFileTest, NamesInMessagesStayOnOneLine) {
  const absl::Status status = GgufFile::Open("/no\nsuch").status();
  EXPECT_TRUE(absl::StrContains(status.message(), "/no\\nsuch: ")) << status;
}

TEST(MappedFileTest, ChangedLengthIsNoticed) {
  const std::string path = WriteTemporaryFile("grows", "12345");
  const auto file = MappedFile::Open(path);
  ASSERT_EQ(truncate(path.c_str(), 9), 0);
  const absl::Status status = file->CheckUnchanged();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "expected the 5 bytes that were opened, found 9"))
      << status;
}

TEST(MappedFileTest, ReleasedPagesAreReadAgain) {
  const auto file = MappedFile::Open(WriteTemporaryFile("pages", std::string(kBytes, 'x')));
  file->Release(file->bytes().subspan(1, kBytes - 2));
  file->Release(file->bytes().first(0));
  for (const std::byte b : file->bytes()) ASSERT_EQ(std::to_integer<char>(b), 'x');
}

int ReadAll(const MappedFile& file) {
  int sum = 0;
  for (size_t i = 0; i < file.bytes().size(); i += 512) {
    sum += std::to_integer<int>(*static_cast<const volatile std::byte*>(&file.bytes()[i]));
  }
  return sum;
}

TEST(MappedFileDeathTest, ShrunkFileEndsInOneLine) {
  const std::string other = WriteTemporaryFile("other", std::string(kBytes, 'y'));
  const std::string path = WriteTemporaryFile("shrinks", std::string(kBytes, 'x'));
  const auto shut = MappedFile::Open(other);
  const auto file = MappedFile::Open(path);
  { const auto closed = MappedFile::Open(other); }
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_EXIT(ReadAll(*file), ::testing::ExitedWithCode(3),
              "shrinks: shrank while in use: expected 65536 bytes");
}

bool DiedOtherwise(int status) { return status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 3); }

TEST(MappedFileDeathTest, OtherBusErrorsKeepTheirMeaning) {
  const auto file = MappedFile::Open(WriteTemporaryFile("guarded", "x"));
  EXPECT_EXIT(raise(SIGBUS), DiedOtherwise, "");
  const int descriptor = open(WriteTemporaryFile("unguarded", "").c_str(), O_RDONLY);
  const void* start = mmap(nullptr, 100, PROT_READ, MAP_PRIVATE, descriptor, 0);
  ASSERT_NE(start, MAP_FAILED);
  EXPECT_EXIT(exit(*static_cast<const volatile char*>(start)), DiedOtherwise, "");
  close(descriptor);
}

}  // namespace
}  // namespace forerun
