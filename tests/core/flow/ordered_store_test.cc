// ordered_store() as a copy, and with the ordering that readers of NCCL's LL and LL128 protocols rely on.
//
// A run under qemu-user executes the arm64 code, so it checks that this code copies the right bytes and never tears a
// word. It has the host's memory model, and x86-64 keeps stores in order where arm64 does not; so only an arm64 machine
// detects a missing release.
#include "core/flow/ordered_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/flow/frame.h"

namespace cableway {
namespace {

TEST(OrderedStore, CopiesLikeMemcpyAtEveryAlignmentAndLength) {
  constexpr std::size_t kMax = 600;
  constexpr std::size_t kRoom = kMax + 2 * kLineBytes;
  alignas(kLineBytes) static std::byte to[kRoom];
  static std::byte untouched[kRoom];
  static std::byte from[kMax + 16];
  std::memset(untouched, 0x5a, sizeof untouched);
  for (std::size_t i = 0; i < sizeof from; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  const auto check = [&](std::size_t to_offset, std::size_t from_offset, std::size_t bytes) {
    std::memcpy(to, untouched, sizeof to);
    ordered_store(to + to_offset, from + from_offset, bytes);
    ASSERT_EQ(std::memcmp(to + to_offset, from + from_offset, bytes), 0);
    ASSERT_EQ(std::memcmp(to, untouched, to_offset), 0);
    ASSERT_EQ(std::memcmp(to + to_offset + bytes, untouched, kRoom - to_offset - bytes), 0);
  };
  // Every alignment of the destination within a line with one of the source, and the other way round.
  for (std::size_t bytes = 0; bytes <= kMax; ++bytes) {
    SCOPED_TRACE(bytes);
    for (std::size_t to_offset = 0; to_offset < kLineBytes; ++to_offset) {
      check(to_offset, bytes % 8, bytes);
    }
    for (std::size_t from_offset = 0; from_offset < 8; ++from_offset) check(bytes % kLineBytes, from_offset, bytes);
    if (HasFatalFailure()) return;
  }
}

using Place = std::function<void(std::byte* to, const std::byte* from, std::size_t bytes)>;

std::uint64_t load(const std::byte* at, std::memory_order order) {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(at))).load(order);
}

constexpr std::uint64_t kMinObservations = 100;
constexpr std::chrono::seconds kMaxDuration{60};

// A thread writes a buffer repeatedly, a new round each time, without waiting for the reader; the reader searches for
// words that are older than their flag.
class Hammer {
 public:
  virtual ~Hammer() = default;
  Hammer() = default;
  Hammer(const Hammer&) = delete;
  Hammer& operator=(const Hammer&) = delete;

  // Writes rounds until the reader has found `violations`, or until `limit` has passed and it has made
  // kMinObservations. Returns how many violations it found; *observations is the number of flag changes seen, so that a
  // run without observations does not pass.
  std::uint64_t run(const Place& place, std::uint64_t violations, std::chrono::milliseconds limit,
                    std::uint64_t* observations) {
    std::atomic<bool> stop = false;
    std::thread writer([&] {
      std::vector<std::byte> source(kBytes + 8);
      for (std::uint32_t round = 1; !stop.load(std::memory_order_relaxed); ++round) {
        fill(source.data() + 3, round);  // an unaligned source, as bytes from a socket are
        place(buffer_, source.data() + 3, kBytes);
      }
    });
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t found = 0;
    *observations = 0;
    const auto over = [&] {
      const auto passed = std::chrono::steady_clock::now() - begin;
      return passed >= limit && (*observations >= kMinObservations || passed >= kMaxDuration);
    };
    while (found < violations && !over()) {
      for (int i = 0; i < 100; ++i) found += observe(observations);
    }
    stop.store(true, std::memory_order_relaxed);
    writer.join();
    return found;
  }

 protected:
  static constexpr std::size_t kLines = 64;
  static constexpr std::size_t kBytes = kLines * kLineBytes;

  virtual void fill(std::byte* source, std::uint32_t round) = 0;
  virtual std::uint64_t observe(std::uint64_t* observations) = 0;

  alignas(kLineBytes) std::byte buffer_[kBytes] = {};
};

// 128-byte lines: 15 words of data, each with its round, then the flag.
class Ll128Hammer final : public Hammer {
 private:
  static constexpr std::size_t kWords = kLineBytes / 8;

  void fill(std::byte* source, std::uint32_t round) override {
    for (std::size_t word = 0; word < kLines * kWords; ++word) {
      const std::uint64_t value = (static_cast<std::uint64_t>(round) << 32) | word;
      std::memcpy(source + 8 * word, &value, sizeof value);
    }
  }
  std::uint64_t observe(std::uint64_t* observations) override {
    std::uint64_t found = 0;
    for (std::size_t line = 0; line < kLines; ++line) {
      const std::byte* at = buffer_ + line * kLineBytes;
      const std::uint64_t flag = load(at + kLineBytes - 8, std::memory_order_acquire) >> 32;
      if (flag == seen_[line]) continue;
      seen_[line] = flag;
      ++*observations;
      for (std::size_t word = 0; word + 1 < kWords; ++word) {
        const std::uint64_t value = load(at + 8 * word, std::memory_order_relaxed);
        const bool complete = value >> 32 >= flag && (value & 0xffffffff) == line * kWords + word;
        if (!complete) ++found;
      }
    }
    return found;
  }
  std::uint64_t seen_[kLines] = {};
};

// 8-byte words: 4 bytes of data, a function of round and offset, then the 4 bytes of flag.
class LlHammer final : public Hammer {
 private:
  static constexpr std::size_t kWords = kBytes / 8;

  static std::uint32_t data_for(std::uint32_t flag, std::size_t word) {
    return flag * 2654435761U + static_cast<std::uint32_t>(word);
  }
  void fill(std::byte* source, std::uint32_t round) override {
    for (std::size_t word = 0; word < kWords; ++word) {
      const std::uint64_t value = (static_cast<std::uint64_t>(round) << 32) | data_for(round, word);
      std::memcpy(source + 8 * word, &value, sizeof value);
    }
  }
  std::uint64_t observe(std::uint64_t* observations) override {
    std::uint64_t found = 0;
    for (std::size_t word = 0; word < kWords; ++word) {
      const std::uint64_t value = load(buffer_ + 8 * word, std::memory_order_acquire);
      const auto flag = static_cast<std::uint32_t>(value >> 32);
      if (flag == seen_[word]) continue;
      seen_[word] = flag;
      ++*observations;
      if (static_cast<std::uint32_t>(value) != data_for(flag, word)) ++found;
    }
    return found;
  }
  std::uint32_t seen_[kWords] = {};
};

constexpr std::chrono::milliseconds kHammering{1500};

template <typename T>
void store(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
    T value;
    std::memcpy(&value, from + i, sizeof value);
    std::atomic_ref<T>(*reinterpret_cast<T*>(to + i)).store(value, std::memory_order_release);
  }
}

// Wrong on purpose: stores the flag of each line first, and gives the reader time to see it.
void place_flag_first(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += kLineBytes) {
    store<std::uint64_t>(to + line + kLineBytes - 8, from + line + kLineBytes - 8, 8);
    if (line == 0) std::this_thread::yield();
    store<std::uint64_t>(to + line, from + line, kLineBytes - 8);
  }
}

// Wrong on purpose: stores half words, flag first, as a backward memcpy may.
void place_torn(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t word = 0; word < bytes; word += 8) {
    store<std::uint32_t>(to + word + 4, from + word + 4, 4);
    if (word == 0) std::this_thread::yield();
    store<std::uint32_t>(to + word, from + word, 4);
  }
}

TEST(OrderedStoreHammer, NeverShowsALinesFlagBeforeItsData) {
  const auto hammer = std::make_unique<Ll128Hammer>();
  std::uint64_t observations = 0;
  EXPECT_EQ(hammer->run(ordered_store, 1, kHammering, &observations), 0U);
  EXPECT_GE(observations, kMinObservations);
}

TEST(OrderedStoreHammer, NeverTearsAWord) {
  const auto hammer = std::make_unique<LlHammer>();
  std::uint64_t observations = 0;
  EXPECT_EQ(hammer->run(ordered_store, 1, kHammering, &observations), 0U);
  EXPECT_GE(observations, kMinObservations);
}

// Shows that the two tests above can fail: the same checks detect these two wrong orders.
TEST(OrderedStoreHammer, DetectsAFlagBeforeItsData) {
  const auto hammer = std::make_unique<Ll128Hammer>();
  std::uint64_t observations = 0;
  EXPECT_GT(hammer->run(place_flag_first, 1, std::chrono::seconds(20), &observations), 0U);
}

TEST(OrderedStoreHammer, DetectsATornWord) {
  const auto hammer = std::make_unique<LlHammer>();
  std::uint64_t observations = 0;
  EXPECT_GT(hammer->run(place_torn, 1, std::chrono::seconds(20), &observations), 0U);
}

}  // namespace
}  // namespace cableway
