// Measures the speed of the checksum of chunks (core/flow/crc32c.h), over data in the cache and in memory, and of what
// would authenticate chunks instead: codes of libsodium, over data in the cache. Prints JSON: bytes at a time, and
// GB/s; 0 where this processor lacks the instructions.
#include <sodium.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <vector>

#include "core/crypto/keyed_mac.h"
#include "core/flow/crc32c.h"

namespace {

constexpr std::size_t kMemoryBytes = std::size_t{256} << 20;  // larger than any cache
constexpr std::size_t kBytesPerRun = std::size_t{2} << 30;
constexpr std::size_t kChunkBytes = std::size_t{128} << 10;

using Bytes = std::vector<std::byte>;
using Work = std::function<void(std::byte* data, std::size_t bytes)>;

unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

// `bytes` at a time from the first `span` bytes of the data.
double gigabytes_per_second(Bytes& data, std::size_t bytes, std::size_t span, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  std::size_t at = 0;
  for (std::size_t done = 0; done < kBytesPerRun; done += bytes) {
    work(data.data() + at, bytes);
    at = at + 2 * bytes <= span ? at + bytes : 0;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(kBytesPerRun) / took.count() / 1e9;
}

void print(const char* name, std::size_t bytes, double rate) {
  std::cout << "\"" << name << "_" << bytes << "\": " << rate << ", ";
}

void print_checksums(Bytes& data, std::uint32_t& result) {
  const Work sum = [&result](std::byte* at, std::size_t bytes) { result = cableway::crc32c({at, bytes}, result); };
  for (const std::size_t bytes : {std::size_t{128}, std::size_t{4} << 10, kChunkBytes})
    print("cached", bytes, gigabytes_per_second(data, bytes, bytes, sum));
  print("memory", std::size_t{1} << 20, gigabytes_per_second(data, std::size_t{1} << 20, data.size(), sum));
}

// The last two encrypt as well, in place.
void print_codes(Bytes& data, std::uint32_t& result) {
  const std::vector<unsigned char> key(32, 7);
  std::vector<unsigned char> nonce(12, 1);
  std::vector<unsigned char> tag(16);
  const auto measure = [&](const char* name, const Work& work) {
    print(name, kChunkBytes, gigabytes_per_second(data, kChunkBytes, kChunkBytes, work));
    result += tag[0];
  };
  const std::vector<std::byte> mac_key(32, std::byte{7});
  measure("blake2b", [&](std::byte* at, std::size_t bytes) {
    result += static_cast<std::uint32_t>(cableway::keyed_mac(mac_key, {at, bytes})[0]);
  });
  measure("poly1305",
          [&](std::byte* at, std::size_t bytes) { ::crypto_onetimeauth(tag.data(), raw(at), bytes, key.data()); });
  measure("chacha20", [&](std::byte* at, std::size_t bytes) {
    ::crypto_aead_chacha20poly1305_ietf_encrypt_detached(raw(at), tag.data(), nullptr, raw(at), bytes, nullptr, 0,
                                                         nullptr, nonce.data(), key.data());
  });
  if (::crypto_aead_aes256gcm_is_available() == 0) return print("aes256gcm", kChunkBytes, 0);
  crypto_aead_aes256gcm_state state;
  ::crypto_aead_aes256gcm_beforenm(&state, key.data());
  measure("aes256gcm", [&](std::byte* at, std::size_t bytes) {
    ::crypto_aead_aes256gcm_encrypt_detached_afternm(raw(at), tag.data(), nullptr, raw(at), bytes, nullptr, 0, nullptr,
                                                     nonce.data(), &state);
  });
}

}  // namespace

int main() {
  if (::sodium_init() < 0) {  // selects what this processor is fast at
    std::cerr << "checksum_rate: libsodium cannot be used\n";
    return 1;
  }
  Bytes data(kMemoryBytes);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  std::uint32_t result = 0;
  std::cout << "{";
  print_checksums(data, result);
  print_codes(data, result);
  std::cout << "\"result\": " << result << "}\n";
}
