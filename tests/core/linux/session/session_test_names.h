// Session names that no other test uses, and whose paths are below a folder of the test.
#ifndef CABLEWAY_TESTS_CORE_LINUX_SESSION_SESSION_TEST_NAMES_H_
#define CABLEWAY_TESTS_CORE_LINUX_SESSION_SESSION_TEST_NAMES_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "core/linux/session/session_names.h"

namespace cableway::host::test {

inline Settings settings_of_this_test(const std::string& folder = "/nonexistent") {
  Settings settings;
  settings.cluster = "unit-test-" + std::to_string(::getpid());
  settings.runtime_dir = std::to_string(testing::UnitTest::GetInstance()->current_test_info()->line());
  settings.session_dir = folder + "/s";
  return settings;
}

inline SessionNames names_of_this_test(const std::string& folder = "/nonexistent", uid_t user = ::geteuid()) {
  return *session_names(settings_of_this_test(folder), user, {folder + "/a" + std::to_string(user)});
}

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_SESSION_SESSION_TEST_NAMES_H_
