#include "core/session/session_input.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/wire.h"

namespace cableway {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr std::size_t kLeastRoom = 32U << 10;  // about 300 reports of flows

}  // namespace

std::size_t SessionInput::next_size() const {
  if (end_ - begin_ < kLengthBytes) return kLengthBytes;
  WireReader reader(std::span<const std::byte>(bytes_).subspan(begin_, kLengthBytes));
  return kLengthBytes + reader.get<std::uint32_t>();
}

std::span<std::byte> SessionInput::room() {
  if (begin_ > 0) {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_), bytes_.begin() + static_cast<std::ptrdiff_t>(end_),
              bytes_.begin());
    end_ -= std::exchange(begin_, 0);
  }
  // next() has refused what is longer.
  const std::size_t needed = std::min(next_size(), kLengthBytes + most_);
  bytes_.resize(std::max({bytes_.size(), needed, kLeastRoom}));
  return std::span(bytes_).subspan(end_);
}

absl::StatusOr<std::optional<std::span<const std::byte>>> SessionInput::next() {
  const std::size_t size = next_size();
  if (size > kLengthBytes + most_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a request of ", size - kLengthBytes, " bytes; expected at most ", most_));
  }
  if (end_ - begin_ < kLengthBytes || end_ - begin_ < size) return std::nullopt;
  const auto message = std::span<const std::byte>(bytes_).subspan(begin_ + kLengthBytes, size - kLengthBytes);
  begin_ += size;
  return message;
}

}  // namespace cableway
