// Bounded little-endian encoding and decoding. All data between processes or nodes goes through these two classes, so
// that untrusted lengths are checked in one place.
//
// Neither class throws or allocates per field. A read past the input, or a length above the caller's bound, makes the
// reader bad: every later read returns zero or empty and ok() is false, so a decoder checks once, at its end.
#ifndef CABLEWAY_CORE_WIRE_H_
#define CABLEWAY_CORE_WIRE_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/little_endian.h"

namespace cableway {

class WireWriter {
 public:
  explicit WireWriter(std::vector<std::byte>& out) : out_(out) {}

  template <std::unsigned_integral T>
  void put(T value) {
    std::array<std::byte, sizeof(T)> bytes;
    store_little_endian(bytes.data(), value);
    put_bytes(bytes);
  }
  void put_bytes(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  // A 16-bit length, then the bytes; longer text is truncated to 65,535 bytes.
  void put_text(std::string_view text) {
    text = text.substr(0, 0xffff);
    put(static_cast<std::uint16_t>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }
  void put_long_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }

 private:
  std::vector<std::byte>& out_;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> in) : in_(in) {}

  template <std::unsigned_integral T>
  T get() {
    return take(sizeof(T)) ? load_little_endian<T>(taken_.data()) : T{0};
  }
  // A byte that is 0 or 1; others are an error.
  bool get_flag() {
    const auto value = get<std::uint8_t>();
    if (value > 1) reject();
    return ok_ && value == 1;
  }
  void get_bytes(std::span<std::byte> out) {
    if (take(out.size()) && !out.empty()) std::memcpy(out.data(), taken_.data(), out.size());
  }
  std::string get_text(std::size_t max_bytes) {
    const std::size_t bytes = get<std::uint16_t>();
    if (bytes > max_bytes) ok_ = false;
    if (!take(bytes)) return {};
    return std::string(reinterpret_cast<const char*>(taken_.data()), taken_.size());
  }
  // As get_text(), but accepts printable ASCII only, since the text will be shown.
  std::string get_printable(std::size_t max_bytes) {
    std::string text = get_text(max_bytes);
    unsigned others = 0;
    for (const char c : text) others += c < ' ' || c > '~' ? 1U : 0U;
    if (others > 0) reject();
    return text;
  }
  // A 32-bit length, then the bytes. Bounded by the input itself.
  std::string get_long_text() {
    if (!take(get<std::uint32_t>())) return {};
    return std::string(reinterpret_cast<const char*>(taken_.data()), taken_.size());
  }

  std::size_t left() const { return in_.size(); }
  // Marks the input as invalid; for values that the decoder finds out of range.
  void reject() { ok_ = false; }
  bool ok() const { return ok_; }
  // Whether all input was read without an error: trailing bytes are an error, too.
  bool finished() const { return ok_ && in_.empty(); }

 private:
  bool take(std::size_t bytes) {
    if (!ok_ || bytes > in_.size()) {
      ok_ = false;
      return false;
    }
    taken_ = in_.first(bytes);
    in_ = in_.subspan(bytes);
    return true;
  }

  std::span<const std::byte> in_;
  std::span<const std::byte> taken_;
  bool ok_ = true;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_WIRE_H_
