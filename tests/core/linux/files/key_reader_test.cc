#include "core/linux/files/key_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "tests/core/linux/temporary_folder.h"
#include "tests/core/linux/unprivileged_child.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kDigits(64, 'b');

TEST(KeyReader, ReadsAKeyThatOnlyItsUserCanRead) {
  const test::TemporaryFolder folder;
  for (const mode_t mode : {0600, 0400}) {
    const absl::StatusOr<KeyRing> keys = read_keys(folder.file("key", kDigits + "\n", mode));
    ASSERT_TRUE(keys.ok()) << keys.status();
    EXPECT_EQ(keys->mac(KeyUse::kControlDatagram, {}), ControlKey::parse(kDigits)->mac(KeyUse::kControlDatagram, {}));
    ::unlink(folder.path("key").c_str());
  }
}

TEST(KeyReader, GivesTheTextThatHasTheKeys) {
  const test::TemporaryFolder folder;
  const absl::StatusOr<KeyFile> file = read_key_file(folder.file("key", kDigits + "\n", 0600));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->text, kDigits + "\n");
  EXPECT_EQ(file->keys, *KeyRing::parse(kDigits));
  EXPECT_EQ(read_key_file(folder.path("none")).status(), read_keys(folder.path("none")).status());
}

TEST(KeyReader, RefusesAFileThatOthersCanAccess) {
  const test::TemporaryFolder folder;
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610, 0644}) {
    const std::string path = folder.file("key", kDigits, mode);
    const absl::Status status = read_keys(path).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("chmod 600 " + path), Not(HasSubstr(kDigits))));
  }
  EXPECT_THAT(std::string(read_keys(folder.path("key")).status().message()), HasSubstr("has mode 0644"));
}

TEST(KeyReader, RefusesAFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const test::TemporaryFolder folder;
  const std::string path = folder.file("key", kDigits, 0600);
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  const absl::Status status = read_keys(path).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("is owned by user 12345; expected root or user 0"));
}

TEST(KeyReader, ReportsWhyThereIsNoKey) {
  const test::TemporaryFolder folder;
  const auto error_of = [&](const std::string& path) {
    const absl::Status status = read_keys(path).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith("key file \"" + path + "\""));
    return std::string(status.message());
  };
  EXPECT_THAT(error_of(folder.path("none")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(folder.path("")), HasSubstr("expected a regular file"));
  EXPECT_THAT(error_of("/dev/zero"), HasSubstr("is not a regular file"));
  EXPECT_THAT(error_of(folder.file("short", "bbbb", 0600)), HasSubstr("has 4 hex digits; expected 64"));
  EXPECT_THAT(error_of(folder.file("long", std::string(1 << 20, 'b'), 0600)), HasSubstr("more than 1024 bytes"));
  EXPECT_THAT(error_of(folder.file("empty", "", 0600)), HasSubstr("the key file has no key"));
}

TEST(KeyReader, ReportsAMissingReadPermission) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("key", kDigits, 0000);
  const int status = test::status_of_child([&] {
    const absl::Status refused = read_keys(path).status();
    CHILD_REQUIRE(absl::IsInvalidArgument(refused));
    CHILD_REQUIRE(refused.message().find("Permission denied") != absl::string_view::npos);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace cableway::host
