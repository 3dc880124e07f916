// Registered memory that a test can make inaccessible: an access then kills the process, and earlier writes can be
// checked.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_GUARDED_BUFFER_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_GUARDED_BUFFER_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace cableway::nccl::test {

class GuardedBuffer {
 public:
  // Filled with `filling`. `bytes` is a multiple of the page size.
  GuardedBuffer(std::size_t bytes, std::byte filling) : bytes_(bytes) {
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = static_cast<std::byte*>(pages);
    fill(filling);
  }
  ~GuardedBuffer() { ::munmap(data_, bytes_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::byte* data() const { return data_; }
  std::span<const std::byte> bytes() const { return {data_, bytes_}; }

  void fill(std::byte filling) { std::memset(data_, static_cast<int>(filling), bytes_); }
  // From here on every access kills the process; an access by the kernel fails.
  void forbid() { ::mprotect(data_, bytes_, PROT_NONE); }
  void allow() { ::mprotect(data_, bytes_, PROT_READ | PROT_WRITE); }

 private:
  std::byte* data_ = nullptr;
  const std::size_t bytes_;
};

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_GUARDED_BUFFER_H_
