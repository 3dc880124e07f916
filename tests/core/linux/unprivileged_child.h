// A child that has given up root, for tests of what the kernel allows everybody.
#ifndef CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_
#define CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace cableway::linux_::test {

// In a child: ends it, with a status that tells the line.
#define CHILD_REQUIRE(condition) \
  if (!(condition)) ::_exit(__LINE__ % 200 + 1)

// How the child ended that ran `body`; 0 when all of its requirements held.
template <typename Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0) CHILD_REQUIRE(::setgid(65534) == 0 && ::setuid(65534) == 0);
    body();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

inline long kernel_setting(const char* path) {
  std::ifstream file(path);
  long value = 0;
  file >> value;
  return value;
}

}  // namespace cableway::linux_::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_
