// Messages between a test and the processes that it drives, each received with a deadline.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_LINE_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_LINE_H_

#include <string>
#include <utility>

#include "core/linux/os/unique_fd.h"

namespace cableway::nccl::test {

class Line {
 public:
  // The two ends of a line.
  static std::pair<Line, Line> make();

  // Both throw std::runtime_error if the other end is gone or silent for a minute.
  void send(const std::string& message);
  std::string receive();

 private:
  explicit Line(int socket) : socket_(socket) {}
  host::UniqueFd socket_;
};

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_LINE_H_
