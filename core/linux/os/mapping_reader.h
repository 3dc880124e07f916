// What is mapped into a process's memory, as /proc/self/maps tells it (proc(5)). For a child right after fork(): calls
// nothing but what is async-signal-safe, and allocates nothing.
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
  dev_t device = 0;  // of the file, as fstat() says it; 0 and 0: it has none
  ino_t inode = 0;
};

class MappingReader {
 public:
  // `maps`: the open file. Outlives this.
  explicit MappingReader(int maps) : maps_(maps) {}

  // The next mapping, in the order of addresses. False: that was all, or what follows is no mapping.
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
