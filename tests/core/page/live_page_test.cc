#include "core/page/live_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace cableway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LivePage, IsOneDocumentThatLoadsNothing) {
  const LivePage page = live_page();
  EXPECT_THAT(page.html, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(page.html, HasSubstr("class CableMap"));
  EXPECT_THAT(page.html, HasSubstr("new Stream("));
  EXPECT_THAT(page.html, Not(HasSubstr("{{")));
  EXPECT_LT(page.html.size(), 64U << 10);
  const std::string without_namespace = std::regex_replace(page.html, std::regex("http://www.w3.org/2000/svg"), "");
  EXPECT_FALSE(
      std::regex_search(without_namespace, std::regex("https?://|url\\(|@import|<(link|script|img)[^>]* src")));
  EXPECT_FALSE(std::regex_search(without_namespace, std::regex("\\son[a-z]+=|style=|innerHTML|eval\\(")))
      << "the policy forbids these";
}

TEST(LivePage, ItsPolicyAllowsOnlyItsOwnParts) {
  const LivePage page = live_page();
  EXPECT_TRUE(std::regex_match(
      page.policy, std::regex("default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src "
                              "'sha256-[A-Za-z0-9+/]{43}='; connect-src 'self'; img-src data:; base-uri 'none'; "
                              "form-action 'none'; frame-ancestors 'none'")))
      << page.policy;
  EXPECT_EQ(page.tag.size(), 46U);
  EXPECT_EQ(live_page().tag, page.tag);
}

}  // namespace
}  // namespace cableway
