// Measures the speed of the checksum of chunks (core/flow/crc32c.h), over data in the cache and in memory. Prints JSON:
// bytes at a time, and GB/s.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "core/flow/crc32c.h"

namespace {

constexpr std::size_t kMemoryBytes = std::size_t{256} << 20;  // larger than any cache
constexpr std::size_t kBytesPerRun = std::size_t{2} << 30;

// `bytes` at a time from the first `span` bytes of the data.
double gigabytes_per_second(const std::vector<std::byte>& data, std::size_t bytes, std::size_t span,
                            std::uint32_t& result) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t at = 0;
  for (std::size_t done = 0; done < kBytesPerRun; done += bytes) {
    result = cableway::crc32c({data.data() + at, bytes}, result);
    at = at + 2 * bytes <= span ? at + bytes : 0;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(kBytesPerRun) / took.count() / 1e9;
}

}  // namespace

int main() {
  std::vector<std::byte> data(kMemoryBytes);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  std::uint32_t result = 0;
  std::cout << "{";
  for (const std::size_t bytes : {std::size_t{128}, std::size_t{4} << 10, std::size_t{128} << 10}) {
    std::cout << "\"cached_" << bytes << "\": " << gigabytes_per_second(data, bytes, bytes, result) << ", ";
  }
  std::cout << "\"memory_" << (std::size_t{1} << 20)
            << "\": " << gigabytes_per_second(data, std::size_t{1} << 20, data.size(), result)
            << ", \"result\": " << result << "}\n";
}
