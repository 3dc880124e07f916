#include "core/settings/http_address.h"

#include <gtest/gtest.h>

#include "core/settings/settings.h"

namespace cableway {
namespace {

TEST(HttpAddress, IsALiteralWithAPort) {
  EXPECT_EQ(parse_http_address("127.0.0.1:7473"), (HttpAddress{"127.0.0.1", 7473, true}));
  EXPECT_EQ(parse_http_address("127.8.0.9:1"), (HttpAddress{"127.8.0.9", 1, true}));
  EXPECT_EQ(parse_http_address("[::1]:7473"), (HttpAddress{"::1", 7473, true}));
  EXPECT_EQ(parse_http_address("[0:0::1]:7473"), (HttpAddress{"::1", 7473, true}));
  EXPECT_EQ(parse_http_address("10.7.0.1:65535"), (HttpAddress{"10.7.0.1", 65535, false}));
  EXPECT_EQ(parse_http_address("0.0.0.0:80"), (HttpAddress{"0.0.0.0", 80, false}));
  EXPECT_EQ(parse_http_address("[::]:80"), (HttpAddress{"::", 80, false}));
  EXPECT_EQ(parse_http_address("[fd00::1]:80"), (HttpAddress{"fd00::1", 80, false}));
}

TEST(HttpAddress, IsNothingElse) {
  for (const char* text : {"", ":", "7473", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:7x",
                           "localhost:7473", "::1:7473", "[127.0.0.1]:7473", "[::1]7473", "[fe80::1%eth0]:7473",
                           "224.0.0.1:7473", "127.0.0.1 :7473", "127.0.0.1: 7473", "127.0.0.1:-1", "[]:7473"}) {
    EXPECT_EQ(parse_http_address(text), std::nullopt) << text;
  }
}

TEST(HttpAddress, SurvivesBeingShown) {
  for (const char* text : {"127.0.0.1:7473", "[::1]:7473", "0.0.0.0:1", "[::]:65535"}) {
    EXPECT_EQ(to_text(*parse_http_address(text)), text);
  }
}

absl::StatusOr<Settings> settings_with(const std::string& http, const std::string& token_file) {
  SettingSources sources{.environment = nullptr, .host_name = "host", .options = {}, .file = {}};
  sources.options.push_back({.key = "http", .value = http, .origin = "--http"});
  if (!token_file.empty()) sources.options.push_back({.key = "http_token_file", .value = token_file, .origin = "--t"});
  return settings_from(sources);
}

TEST(HttpAddress, BeyondTheLoopbackNeedsAToken) {
  EXPECT_TRUE(settings_with("127.0.0.1:7473", "").ok());
  EXPECT_TRUE(settings_with("[::1]:7473", "").ok());
  EXPECT_TRUE(settings_with("10.7.0.1:7473", "/token").ok());
  for (const char* text : {"10.7.0.1:7473", "0.0.0.0:7473", "[::]:7473"}) {
    const absl::Status status = settings_with(text, "").status();
    EXPECT_EQ(status.message(), std::string("http is ") + text +
                                    " (--http), which other hosts can reach, and http_token_file is not set; expected "
                                    "a file with a token, or an address of the loopback, such as 127.0.0.1:7473");
  }
}

}  // namespace
}  // namespace cableway
