#include "core/linux/http/document_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cableway::host {
namespace {

using namespace std::chrono_literals;

class DocumentCacheTest : public ::testing::Test {
 protected:
  // What a get() has received so far; "": nothing, "null": that there is none.
  std::shared_ptr<std::string> get(const std::string& name, DocumentCache::Clock::time_point now) {
    auto received = std::make_shared<std::string>();
    cache_.get(name, now,
               [received](const Document& document) { *received = document == nullptr ? "null" : *document; });
    return received;
  }

  void finish(Document document, std::chrono::nanoseconds cost = 0ns) {
    const auto take = std::exchange(wanted_, {});
    ASSERT_EQ(take.size(), 1U);
    take.front().second({std::move(document), cost});
  }

  static Document text(const std::string& text) { return std::make_shared<const std::string>(text); }

  std::vector<std::pair<std::string, std::function<void(MadeDocument)>>> wanted_;
  DocumentCache cache_{[this](const std::string& name, std::function<void(MadeDocument)> take) {
    wanted_.emplace_back(name, std::move(take));
  }};
  const DocumentCache::Clock::time_point now_ = DocumentCache::Clock::now();
};

TEST_F(DocumentCacheTest, ReadersShareADocumentInMaking) {
  const auto first = get("a", now_);
  const auto second = get("a", now_);
  EXPECT_EQ(wanted_.size(), 1U);
  EXPECT_EQ(*first, "");
  finish(text("one"));
  EXPECT_EQ(*first + *second, "oneone");
}

TEST_F(DocumentCacheTest, ADocumentIsUsedForASecond) {
  get("a", now_);
  finish(text("one"));
  EXPECT_EQ(*get("a", now_ + 900ms), "one");
  EXPECT_TRUE(wanted_.empty());
  const auto later = get("a", now_ + 5s);
  EXPECT_EQ(*later, "");
  finish(text("two"));
  EXPECT_EQ(*later, "two");
}

TEST_F(DocumentCacheTest, WhatTakesLongIsUsedForLonger) {
  get("a", now_);
  finish(text("one"), 500ms);
  EXPECT_EQ(*get("a", now_ + 9s), "one");
  EXPECT_TRUE(wanted_.empty());
  get("a", now_ + 20s);
  EXPECT_EQ(wanted_.size(), 1U);
}

TEST_F(DocumentCacheTest, AllTogetherTakeATwentiethOfTheTime) {
  for (const char* name : {"a", "b", "c"}) {
    get(name, now_);
    finish(text(name), 500ms);
  }
  // Each alone would be made again after 10 s; together they have used the time until 30 s.
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(*get(name, now_ + 25s), name);
  EXPECT_TRUE(wanted_.empty());
  get("a", now_ + 40s);
  EXPECT_EQ(wanted_.size(), 1U);
}

TEST_F(DocumentCacheTest, TheOneThatHasWaitedLongestIsMadeFirst) {
  get("a", now_);
  finish(text("a"), 500ms);
  get("b", now_ + 1ms);
  finish(text("b"), 500ms);
  // The time until 20 s is used up.
  EXPECT_EQ(*get("a", now_ + 19s), "a");
  EXPECT_EQ(*get("b", now_ + 20900ms), "b") << "it is the turn of the other one";
  EXPECT_TRUE(wanted_.empty());
  // No reader asks for that any more.
  get("b", now_ + 25s);
  ASSERT_EQ(wanted_.size(), 1U);
  EXPECT_EQ(wanted_[0].first, "b");
}

TEST_F(DocumentCacheTest, SaysThatNobodyMakesADocument) {
  get("a", now_);
  EXPECT_FALSE(cache_.is_stuck(now_ + 1s));
  EXPECT_TRUE(cache_.is_stuck(now_ + 3s));
  finish(text("one"));
  EXPECT_FALSE(cache_.is_stuck(now_ + 3s));
}

TEST_F(DocumentCacheTest, OneThatCannotBeMadeIsNotTriedAtOnceAgain) {
  const auto received = get("a", now_);
  finish(nullptr);
  EXPECT_EQ(*received, "null");
  EXPECT_EQ(*get("a", now_ + 500ms), "null");
  EXPECT_TRUE(wanted_.empty());
}

TEST_F(DocumentCacheTest, DocumentsThatNobodyWantsAreFreed) {
  const Document document = text("one");
  get("a", now_);
  finish(document);
  cache_.forget_unused(now_ + 9s);
  EXPECT_EQ(document.use_count(), 2);
  cache_.forget_unused(now_ + 11s);
  EXPECT_EQ(document.use_count(), 1);
}

}  // namespace
}  // namespace cableway::host
