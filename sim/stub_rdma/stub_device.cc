#include "sim/stub_rdma/stub_device.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::sim {
namespace {

// The layout of a key: remote or local, the device, the registration's index, and how many times that was reused.
constexpr std::uint32_t kRemoteBit = 1U << 31;
constexpr std::uint32_t kDeviceShift = 22;
constexpr std::uint32_t kPlaceShift = 8;
constexpr std::uint32_t kPlaceMask = 0x3fff;

bool lies_within(std::uint64_t at, std::uint64_t bytes, std::uint64_t begin, std::uint64_t size) {
  return at >= begin && at - begin <= size && bytes <= size - (at - begin);
}

}  // namespace

StubMemory::StubMemory(StubMemory&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)), keys_(other.keys_) {}

StubMemory& StubMemory::operator=(StubMemory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(keys_, other.keys_);
  return *this;
}

StubMemory::~StubMemory() {
  if (device_ != nullptr) device_->remove(keys_.local);
}

StubMemory StubDevice::add(std::span<const std::byte> memory, bool writable) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(registrations_.size()));
    registrations_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  Registration& registration = registrations_[place];
  registration.begin = reinterpret_cast<std::uint64_t>(memory.data());
  registration.bytes = memory.size();
  registration.writable = writable;
  registration.active = true;
  const std::uint32_t local =
      (static_cast<std::uint32_t>(number_) << kDeviceShift) | (place << kPlaceShift) | registration.age;
  return StubMemory(*this, RdmaKeys{local, writable ? local | kRemoteBit : 0});
}

void StubDevice::remove(std::uint32_t local_key) {
  const std::uint32_t place = (local_key >> kPlaceShift) & kPlaceMask;
  registrations_[place].active = false;
  ++registrations_[place].age;
  free_.push_back(place);
}

const StubDevice::Registration* StubDevice::find(std::uint32_t local_key) const {
  const std::uint32_t place = (local_key >> kPlaceShift) & kPlaceMask;
  if (local_key >> kDeviceShift != number_ || place >= registrations_.size()) return nullptr;
  const Registration& found = registrations_[place];
  return found.active && found.age == static_cast<std::uint8_t>(local_key) ? &found : nullptr;
}

absl::Status StubDevice::check_read(const std::byte* data, std::uint32_t bytes, std::uint32_t local_key) const {
  if (bytes == 0) return absl::OkStatus();
  const Registration* found = find(local_key);
  if (found == nullptr) {
    return absl::InternalError(absl::StrCat("local protection error: no memory has the local key ", local_key));
  }
  if (!lies_within(reinterpret_cast<std::uint64_t>(data), bytes, found->begin, found->bytes)) {
    return absl::InternalError(
        absl::StrCat("local protection error: ", bytes, " bytes reach outside the memory of key ", local_key));
  }
  return absl::OkStatus();
}

absl::Status StubDevice::check_write(std::uint64_t to, std::uint32_t bytes, std::uint32_t remote_key) const {
  if (bytes == 0) return absl::OkStatus();
  const Registration* found = (remote_key & kRemoteBit) == 0 ? nullptr : find(remote_key & ~kRemoteBit);
  if (found == nullptr || !found->writable) {
    return absl::InternalError(absl::StrCat("remote access error: no memory has the remote key ", remote_key));
  }
  if (!lies_within(to, bytes, found->begin, found->bytes)) {
    return absl::InternalError(
        absl::StrCat("remote access error: ", bytes, " bytes reach outside the memory of key ", remote_key));
  }
  return absl::OkStatus();
}

std::array<std::byte, 16> StubDevice::gid() const {
  // ::ffff:10.0.number, like RoCE v2 for a port with an IPv4 address.
  std::array<std::byte, 16> gid{};
  gid[10] = gid[11] = std::byte{0xff};
  gid[12] = std::byte{10};
  gid[14] = static_cast<std::byte>(number_ >> 8);
  gid[15] = static_cast<std::byte>(number_);
  return gid;
}

}  // namespace cableway::sim
