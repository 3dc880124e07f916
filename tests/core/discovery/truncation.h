// For tests of codecs.
#ifndef CABLEWAY_TESTS_CORE_DISCOVERY_TRUNCATION_H_
#define CABLEWAY_TESTS_CORE_DISCOVERY_TRUNCATION_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cableway::test {

// Expects that no proper prefix of `bytes` decodes, nor `bytes` with a trailing byte.
template <typename Decode>
void expect_every_truncation_refused(const std::vector<std::byte>& bytes, Decode decode) {
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span(bytes).first(length))) << length << " of " << bytes.size();
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(std::span<const std::byte>(longer)));
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_DISCOVERY_TRUNCATION_H_
