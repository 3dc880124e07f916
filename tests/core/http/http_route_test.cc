#include "core/http/http_route.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

using To = HttpRoute::To;

constexpr std::array<std::string_view, 2> kViewNames = {"status", "live"};
constexpr char kToken[] = "0123456789abcdef";

const HttpAccess kLoopback(*parse_http_address("127.0.0.1:7473"), "");
const HttpAccess kLoopbackWithToken(*parse_http_address("127.0.0.1:7473"), kToken);
const HttpAccess kElsewhere(*parse_http_address("10.7.0.1:7473"), kToken);

HttpRoute get(std::string_view target, const HttpAccess& access = kLoopback, std::string_view authorization = "") {
  return route({"GET", target, {"127.0.0.1:7473"}, authorization}, access, kViewNames);
}

TEST(HttpRoute, LeadsToThePageTheDocumentsAndTheStream) {
  EXPECT_EQ(get("/").to, To::kPage);
  EXPECT_EQ(get("/events").to, To::kStream);
  EXPECT_EQ(get("/metrics").document, "metrics");
  EXPECT_EQ(get("/api/status").document, "status");
  EXPECT_EQ(get("/api/live").to, To::kDocument);
  EXPECT_EQ(get("/api/live").status, 200U);
}

TEST(HttpRoute, LeadsNowhereElse) {
  for (const char* target :
       {"", "*", "//", "/index.html", "/metrics/", "/api", "/api/", "/api/flows", "/api/status/", "/api/../metrics",
        "/API/status", "?", "http://127.0.0.1/metrics", "/%6detrics", "/etc/passwd", "/../../etc/passwd"}) {
    const HttpRoute to = get(target);
    EXPECT_EQ(to.to, To::kRefusal) << target;
    EXPECT_EQ(to.status, 404U) << target;
  }
}

TEST(HttpRoute, AQuerySaysNothing) {
  EXPECT_EQ(get("/?from=mail").to, To::kPage);
  EXPECT_EQ(get("/events?x").to, To::kStream);
  EXPECT_EQ(get("/metrics?a=/api/status&b=?").document, "metrics");
  const std::string with_token = absl::StrCat("/metrics?token=", kToken);
  EXPECT_EQ(route({"GET", with_token, {"localhost"}, ""}, kLoopbackWithToken, kViewNames).status, 401U);
}

TEST(HttpRoute, TakesOnlyMethodsThatRead) {
  EXPECT_EQ(route({"HEAD", "/metrics", {"localhost"}, ""}, kLoopback, kViewNames).to, To::kDocument);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""}) {
    EXPECT_EQ(route({method, "/metrics", {"localhost"}, ""}, kLoopback, kViewNames).status, 405U) << method;
  }
  EXPECT_EQ(route({"HEAD", "/events", {"localhost"}, ""}, kLoopback, kViewNames).status, 405U);
}

TEST(HttpRoute, OnTheLoopbackTheHostMustBeThisOne) {
  for (const char* host : {"127.0.0.1:7473", "127.0.0.1", "localhost", "LocalHost:80", "[::1]:7473", "[::1]"}) {
    EXPECT_EQ(route({"GET", "/metrics", {host}, ""}, kLoopback, kViewNames).to, To::kDocument) << host;
  }
  for (const char* host : {"evil.example:7473", "localhost.evil.example", "127.0.0.1.evil.example", "10.7.0.1:7473", "",
                           "[::2]", "::1", "localhost:", "localhost:x", "localhost:123456", "127.0.0.1:7473@evil"}) {
    EXPECT_EQ(route({"GET", "/metrics", {host}, ""}, kLoopback, kViewNames).status, 403U) << host;
    EXPECT_EQ(route({"GET", "/", {host}, ""}, kLoopback, kViewNames).status, 403U) << host;
  }
  EXPECT_EQ(route({"GET", "/", {}, ""}, kLoopback, kViewNames).status, 400U);
  EXPECT_EQ(route({"GET", "/", {"localhost", "localhost"}, ""}, kLoopback, kViewNames).status, 400U);
}

TEST(HttpRoute, ItsOwnAddressIsAHostToo) {
  const HttpAccess other(*parse_http_address("127.0.0.9:7473"), "");
  EXPECT_EQ(route({"GET", "/", {"127.0.0.9:7473"}, ""}, other, kViewNames).to, To::kPage);
  EXPECT_EQ(route({"GET", "/", {"127.0.0.8:7473"}, ""}, other, kViewNames).status, 403U);
}

TEST(HttpRoute, WithATokenAllButThePageNeedIt) {
  for (const HttpAccess* access : {&kLoopbackWithToken, &kElsewhere}) {
    for (const char* target : {"/metrics", "/events", "/api/status"}) {
      EXPECT_NE(get(target, *access, std::string("Bearer ") + kToken).to, To::kRefusal) << target;
      EXPECT_NE(get(target, *access, std::string("bEARER ") + kToken).to, To::kRefusal) << target;
      for (const char* wrong :
           {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer 0123456789abcdeg",
            "Basic 0123456789abcdef", "0123456789abcdef", "Bearer  0123456789abcdef", "Bearer 0123456789ABCDEF"}) {
        EXPECT_EQ(get(target, *access, wrong).status, 401U) << target << " " << wrong;
      }
    }
    EXPECT_EQ(get("/", *access).to, To::kPage);
    EXPECT_EQ(get("/nothing", *access).status, 404U);
  }
  EXPECT_EQ(route({"GET", "/", {"any.example"}, ""}, kElsewhere, kViewNames).to, To::kPage);
}

TEST(HttpRoute, ARefusalContainsNothingOfTheRequest) {
  for (const std::string& text : {get("/secretive").text, get("/metrics", kElsewhere, "Bearer secretive").text,
                                  route({"GET", "/", {"secretive"}, ""}, kLoopback, kViewNames).text}) {
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find("secretive"), std::string::npos);
    EXPECT_EQ(text.find(kToken), std::string::npos);
  }
}

}  // namespace
}  // namespace cableway
