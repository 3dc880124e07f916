// A child that has given up root, for tests of what the kernel allows everybody.
#ifndef CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_
#define CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace cableway::host::test {

// In a child: ends it, with a status that tells the line.
#define CHILD_REQUIRE(condition) \
  if (!(condition)) ::_exit(__LINE__ % 200 + 1)

// In a child that is root: becomes somebody whom no other process is, since the kernel counts what a user has, as of
// pipes, on the whole machine. Where few users are mapped, the one that everybody may become.
inline bool become_nobody_else() {
  constexpr uid_t kNobody = 65534;
  const auto own = static_cast<uid_t>(100000 + ::getpid());
  return ::setgid(kNobody) == 0 && (::setuid(own) == 0 || ::setuid(kNobody) == 0);
}

// How the child ended that ran `body`; 0 when all of its requirements held.
template <typename Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0) CHILD_REQUIRE(become_nobody_else());
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

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_
