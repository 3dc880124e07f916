// A child that has given up root, for tests of what the kernel permits to unprivileged users.
#ifndef CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_
#define CABLEWAY_TESTS_CORE_LINUX_UNPRIVILEGED_CHILD_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace cableway::host::test {

// In a child: ends it, with a status that identifies the line.
#define CHILD_REQUIRE(condition) \
  if (!(condition)) ::_exit(__LINE__ % 200 + 1)

// In a child that is root: becomes a user that no other process runs as, since the kernel counts resources such as
// pipes per user on the whole machine. If few users are mapped, becomes nobody.
inline bool become_unused_user() {
  constexpr uid_t kNobody = 65534;
  const auto own = static_cast<uid_t>(100000 + ::getpid());
  return ::setgid(kNobody) == 0 && (::setuid(own) == 0 || ::setuid(kNobody) == 0);
}

// The exit status of a child that ran `body`; 0 if all of its requirements held.
template <typename Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0) CHILD_REQUIRE(become_unused_user());
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
