// Words between a test and the processes that it drives: whole messages, each waited for with a deadline.
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

  // Both throw std::runtime_error where the other end is gone or silent for a minute.
  void say(const std::string& words);
  std::string hear();

 private:
  explicit Line(int socket) : socket_(socket) {}
  host::UniqueFd socket_;
};

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_LINE_H_
