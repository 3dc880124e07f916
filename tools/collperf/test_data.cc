#include "tools/collperf/test_data.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cableway::collperf {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint32_t);
constexpr std::uint8_t kPoison = 0xA5;

// The finisher of MurmurHash3 (A. Appleby, public domain): every bit of the result depends on every bit of `x`.
constexpr std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  x ^= x >> 16;
  return x;
}

std::uint32_t key_of(DataTag tag, int rank) {
  return mix(mix(mix(tag.measurement + 1) + tag.iteration) + static_cast<std::uint32_t>(rank));
}

// The high half of the index matters only beyond 16 GiB; it is included so that the pattern never repeats.
std::uint32_t word_of(std::uint32_t key, std::uint64_t index) {
  return mix(static_cast<std::uint32_t>(index) * 0x9e3779b1U + key + static_cast<std::uint32_t>(index >> 32));
}

// Expected words, produced a block at a time so that they stay in the cache.
class Expectation {
 public:
  Expectation(DataTag tag, int ranks, const ExpectedSegment& segment) : content_(segment.content) {
    if (content_ == ExpectedSegment::Content::kFromRank) keys_.push_back(key_of(tag, segment.rank));
    if (content_ == ExpectedSegment::Content::kSum) {
      for (int rank = 0; rank < ranks; ++rank) keys_.push_back(key_of(tag, rank));
    }
  }

  static constexpr std::uint64_t kBlockWords = 1024;
  using Block = std::array<std::uint32_t, kBlockWords>;

  void produce(std::uint64_t first_word, Block& block) const {
    if (content_ == ExpectedSegment::Content::kUntouched) {
      std::memset(block.data(), kPoison, sizeof(Block));
      return;
    }
    block.fill(0);
    for (std::uint32_t key : keys_) {
      for (std::uint64_t i = 0; i < kBlockWords; ++i) block[i] += word_of(key, first_word + i);
    }
  }

 private:
  ExpectedSegment::Content content_;
  std::vector<std::uint32_t> keys_;
};

void compare_bytes(const std::uint8_t* expected, const std::uint8_t* found, std::uint64_t offset, std::uint64_t bytes,
                   CheckResult& result) {
  if (bytes == 0 || std::memcmp(expected, found, bytes) == 0) return;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (expected[i] == found[i]) continue;
    if (result.wrong_bytes++ == 0) {
      result.first_wrong_offset = offset + i;
      result.expected = expected[i];
      result.found = found[i];
    }
  }
}

// A segment may begin anywhere within a word of its input.
void check_segment(const Expectation& expectation, const ExpectedSegment& segment, const std::uint8_t* output,
                   CheckResult& result) {
  Expectation::Block block;
  std::uint64_t done = 0;
  while (done < segment.bytes) {
    const std::uint64_t input = segment.input_offset + done;
    const std::uint64_t skip = input % kWord;
    const std::uint64_t bytes = std::min(sizeof(block) - skip, segment.bytes - done);
    expectation.produce(input / kWord, block);
    const std::uint64_t offset = segment.output_offset + done;
    compare_bytes(reinterpret_cast<const std::uint8_t*>(block.data()) + skip, output + offset, offset, bytes, result);
    if (segment.content != ExpectedSegment::Content::kUntouched) result.checked_bytes += bytes;
    done += bytes;
  }
}

}  // namespace

std::uint32_t input_word(DataTag tag, int rank, std::uint64_t index) {
  return word_of(key_of(tag, rank), index);
}

void fill_input(DataTag tag, int rank, std::uint8_t* data, std::uint64_t bytes) {
  const std::uint32_t key = key_of(tag, rank);
  const std::uint64_t words = bytes / kWord;
  auto* const out = reinterpret_cast<std::uint32_t*>(data);
  for (std::uint64_t i = 0; i < words; ++i) out[i] = word_of(key, i);
  const std::uint32_t last = word_of(key, words);
  if (bytes % kWord != 0) std::memcpy(data + words * kWord, &last, bytes % kWord);
}

void fill_poison(std::uint8_t* data, std::uint64_t bytes) {
  if (bytes > 0) std::memset(data, kPoison, bytes);
}

CheckResult check_output(DataTag tag, int ranks, const std::vector<ExpectedSegment>& segments,
                         const std::uint8_t* output) {
  CheckResult result;
  for (const ExpectedSegment& segment : segments) {
    check_segment(Expectation(tag, ranks, segment), segment, output, result);
  }
  return result;
}

CheckResult check_poison(const std::uint8_t* data, std::uint64_t bytes) {
  const ExpectedSegment segment{ExpectedSegment::Content::kUntouched, 0, bytes, 0, 0};
  return check_output({}, 1, {segment}, data);
}

}  // namespace cableway::collperf
