#include "core/event/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Problems::Key kName{1, EventCode::kNameTaken, 7};
constexpr Problems::Key kMtu{1, EventCode::kCableRefused, 7};

class ProblemsTest : public ::testing::Test {
 protected:
  bool is_new(const Problems::Key& key, const std::string& text, Duration at) {
    return problems_.note(key, "eth0", text, Instant{at}).has_value();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Problem& problem : problems_.all()) texts.push_back(problem.text);
    return texts;
  }

  Problems problems_;
};

TEST_F(ProblemsTest, AreNewOnceAndKeepTheirBeginning) {
  EXPECT_TRUE(is_new(kName, "first", 1s));
  EXPECT_FALSE(is_new(kName, "later", 3s));
  EXPECT_TRUE(is_new(kMtu, "another", 3s));
  EXPECT_THAT(texts(), ElementsAre("later", "another"));
  EXPECT_EQ(problems_.all()[0].since, Instant{1s});
  EXPECT_EQ(problems_.all()[0].last_seen, Instant{3s});
  EXPECT_EQ(problems_.all()[0].interface, "eth0");
}

TEST_F(ProblemsTest, AreAboutTheNeighbourOfTheLatestNote) {
  problems_.note(kName, "eth0", "first", Instant{1s}, "n1");
  problems_.note(kName, "eth0", "later", Instant{2s}, "n2");
  problems_.note(kMtu, "eth0", "another", Instant{2s});
  EXPECT_EQ(problems_.all()[0].neighbour, "n2");
  EXPECT_EQ(problems_.all()[1].neighbour, "");
}

TEST_F(ProblemsTest, LastFiveSecondsAfterTheyWereSeen) {
  is_new(kName, "a", 1s);
  is_new(kMtu, "b", 2s);
  problems_.expire(Instant{5999ms});
  EXPECT_THAT(texts(), ElementsAre("a", "b"));
  problems_.expire(Instant{6s});
  EXPECT_THAT(texts(), ElementsAre("b"));
  EXPECT_TRUE(is_new(kName, "again", 7s));
}

TEST_F(ProblemsTest, AreClearedOneByOneAndByPort) {
  is_new(kName, "a", 1s);
  is_new(kMtu, "b", 1s);
  problems_.clear(kName);
  EXPECT_THAT(texts(), ElementsAre("b"));
  problems_.clear_if([](std::uint32_t port) { return port == 2; });
  EXPECT_THAT(texts(), ElementsAre("b"));
  problems_.clear_if([](std::uint32_t port) { return port == 1; });
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(ProblemsTest, ManyOfOneKindHideNoOther) {
  for (std::uint64_t about = 0; about < 100; ++about) is_new({1, EventCode::kKeyDiffers, about}, "key", 1s);
  EXPECT_EQ(problems_.all().size(), Problems::kMaxOfOneKind);
  EXPECT_TRUE(is_new(kName, "a", 1s));
  EXPECT_TRUE(is_new({2, EventCode::kKeyDiffers, 0}, "another port's", 1s));
  for (std::uint32_t port = 3; port < 1000; ++port) is_new({port, EventCode::kKeyDiffers, 0}, "key", 1s);
  EXPECT_EQ(problems_.all().size(), Problems::kMax);
}

}  // namespace
}  // namespace cableway
