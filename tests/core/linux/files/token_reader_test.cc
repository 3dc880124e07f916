#include "core/linux/files/token_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "tests/core/linux/temporary_folder.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(TokenReader, ReadsATokenWithWhiteSpaceAroundIt) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_token(folder.file("token", "  0123456789abcdef\n\n", 0600)).value_or("none"), "0123456789abcdef");
  const std::string longest(256, '~');
  EXPECT_EQ(read_token(folder.file("longest", longest, 0400)).value_or("none"), longest);
}

TEST(TokenReader, RefusesAFileThatOthersCanRead) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("token", "0123456789abcdef", 0644);
  const absl::Status status = read_token(path).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(StartsWith("token file \"" + path + "\" has mode 0644"), HasSubstr("chmod 600 " + path)));
}

TEST(TokenReader, RefusesWhatIsNoToken) {
  const test::TemporaryFolder folder;
  int number = 0;
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string(15, 'a'), std::string(257, 'a'), std::string("0123456789 abcdef"),
        std::string("0123456789abcdef\n0123456789abcdef"), std::string("0123456789abcde\xc3\xa4"),
        "0123456789abcdef" + std::string(2000, ' ')}) {
    const absl::Status status = read_token(folder.file(std::to_string(++number), text, 0600)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << number << ": " << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("; expected 16 to 256 visible ASCII characters"), Not(HasSubstr("0123456789"))));
  }
  EXPECT_THAT(std::string(read_token(folder.path("none")).status().message()), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace cableway::host
