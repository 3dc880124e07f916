#include "routing/text/host_port.h"

#include <gtest/gtest.h>

#include <string>

#include "routing/text/ssh_host.h"

namespace cableway::routing {
namespace {

void expect_host_port(std::string_view text, std::string_view host, int port) {
  const std::optional<HostPort> parsed = parse_host_port(text);
  ASSERT_TRUE(parsed) << text;
  EXPECT_EQ(parsed->host, host) << text;
  EXPECT_EQ(parsed->port.value_or(0), port) << text;
}

TEST(HostPort, AHostWithColonsIsInBrackets) {
  expect_host_port("h0:7473", "h0", 7473);
  expect_host_port("h0", "h0", 0);
  expect_host_port("[::1]:65535", "::1", 65535);
  expect_host_port("[fe80::1%eth0]", "fe80::1%eth0", 0);
}

TEST(HostPort, OtherFormsAreRefused) {
  for (const char* text :
       {"",          ":1",    "h:",   "h:0",  "h:65536", "h:+1",   "h:1 ",      "h: 1",     "h:1x", "::1",
        "fe80::1:9", "[h]:1", "[]:1", "[::1", "[::1]9",  "[::1]:", "[[::1]]:1", "h[::1]:1", "h]:1", "[:["}) {
    EXPECT_FALSE(parse_host_port(text)) << text;
  }
}

TEST(SshHost, IsNeverAnOption) {
  for (const char* text : {"h0", "me@h1.lan", "10.0.0.3", "fe80::1%eth0", "user@fe80::1%eth0", "a_b-c"}) {
    EXPECT_TRUE(is_ssh_host(text)) << text;
  }
  for (const char* text : {"", "-oProxyCommand=x", "me@-x", "@h", "h@", "a@b@c", "h;x", "h x", "[::1]", "h\n"}) {
    EXPECT_FALSE(is_ssh_host(text)) << text;
  }
  EXPECT_TRUE(is_ssh_host(std::string(255, 'h')));
  EXPECT_FALSE(is_ssh_host(std::string(256, 'h')));
}

}  // namespace
}  // namespace cableway::routing
