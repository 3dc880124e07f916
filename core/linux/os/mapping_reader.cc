#include "core/linux/os/mapping_reader.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/linux/os/uninterrupted.h"

namespace cableway::host {
namespace {

constexpr unsigned kNoDigit = 16;

unsigned digit_of(char byte) {
  if (byte >= '0' && byte <= '9') return static_cast<unsigned>(byte - '0');
  if (byte >= 'a' && byte <= 'f') return static_cast<unsigned>(byte - 'a') + 10;
  return kNoDigit;
}

}  // namespace

// "7f2b10000000-7f2b10021000 rw-s 00003000 00:06 512    /dev/infiniband/uverbs0"; every inode is followed by blanks.
bool MappingReader::next(Mapping& mapping) {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t inode = 0;
  const bool read = read_number(16, '-', mapping.begin) && read_number(16, ' ', mapping.end) && skip_past(' ') &&
                    skip_past(' ') && read_number(16, ':', major) && read_number(16, ' ', minor) &&
                    read_number(10, ' ', inode) && skip_past('\n');
  mapping.device = makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  mapping.inode = inode;
  return read;
}

bool MappingReader::next_byte(char& byte) {
  if (taken_ == filled_) {
    const ssize_t got = uninterrupted([&] { return ::read(maps_, bytes_.data(), bytes_.size()); });
    filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    taken_ = 0;
  }
  if (taken_ == filled_) return false;
  byte = bytes_[taken_++];
  return true;
}

bool MappingReader::read_number(unsigned base, char end, std::uint64_t& number) {
  number = 0;
  for (char byte = 0; next_byte(byte);) {
    if (byte == end) return true;
    const unsigned digit = digit_of(byte);
    if (digit >= base) return false;
    number = number * base + digit;
  }
  return false;
}

bool MappingReader::skip_past(char end) {
  for (char byte = 0; next_byte(byte);) {
    if (byte == end) return true;
  }
  return false;
}

}  // namespace cableway::host
