// The memory mappings of a process, parsed from /proc/self/maps (proc(5)). For a child right after fork(): calls only
// async-signal-safe functions, and does not allocate.
#ifndef CABLEWAY_CORE_LINUX_OS_MAPPING_READER_H_
#define CABLEWAY_CORE_LINUX_OS_MAPPING_READER_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cableway::host {

struct Mapping {
  std::uint64_t begin = 0;  // addresses
  std::uint64_t end = 0;
  dev_t device = 0;  // of the file, as in fstat(); device and inode are 0 without a file
  ino_t inode = 0;
};

class MappingReader {
 public:
  // `maps`: the open file. Must outlive this.
  explicit MappingReader(int maps) : maps_(maps) {}

  // The next mapping, in address order. False at the end, or at malformed text.
  bool next(Mapping& mapping);

 private:
  bool next_byte(char& byte);
  bool read_number(unsigned base, char end, std::uint64_t& number);
  bool skip_past(char end);

  const int maps_;
  std::array<char, 4096> bytes_{};
  std::size_t filled_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_MAPPING_READER_H_
