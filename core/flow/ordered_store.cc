#include "core/flow/ordered_store.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/flow/frame.h"

namespace cableway {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// The order is a template argument because compilers emit the strongest, slowest store for an order not known at
// compile time.
template <std::memory_order kOrder>
void store_word(std::byte* to, const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, kWord);
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to)).store(word, kOrder);
}

void store_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    std::atomic_ref<unsigned char>(*reinterpret_cast<unsigned char*>(to + i))
        .store(static_cast<unsigned char>(from[i]), std::memory_order_release);
  }
}

// For parts of a line only: releases every word, which costs nothing at this length.
void store_words(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kWord) store_word<std::memory_order_release>(to + i, from + i);
}

void store_lines(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += kLineBytes) {
    constexpr std::size_t kFlagWord = kLineBytes - kWord;
    for (std::size_t i = 0; i < kFlagWord; i += kWord) {
      store_word<std::memory_order_relaxed>(to + line + i, from + line + i);
    }
    store_word<std::memory_order_release>(to + line + kFlagWord, from + line + kFlagWord);
  }
}

std::size_t bytes_to_multiple(const std::byte* at, std::size_t of) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(at) % of;
  return past == 0 ? 0 : of - past;
}

}  // namespace

void ordered_store(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto place = [&](auto store, std::size_t part) {
    store(to, from, part);
    to += part;
    from += part;
    bytes -= part;
  };
  place(store_bytes, std::min(bytes, bytes_to_multiple(to, kWord)));
  place(store_words, std::min(bytes, bytes_to_multiple(to, kLineBytes)) / kWord * kWord);
  place(store_lines, bytes / kLineBytes * kLineBytes);
  place(store_words, bytes / kWord * kWord);
  place(store_bytes, bytes);
}

}  // namespace cableway
