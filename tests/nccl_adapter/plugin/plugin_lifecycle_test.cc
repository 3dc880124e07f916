// Loading, finalizing, unloading, and init without a node.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {
namespace {

std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// The open descriptors' targets, without their numbers.
std::multiset<std::string> descriptors() {
  std::multiset<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the directory's own
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    found.insert(target.substr(0, target.find('[')));
  }
  return found;
}

// A joined thread is still listed for a moment: returns what `list` finds once that is `expected`, or after ten
// seconds.
template <typename Listed>
Listed becoming(Listed (*list)(), const Listed& expected) {
  Listed now = list();
  for (int look = 0; look < 1000 && now != expected; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    now = list();
  }
  return now;
}

// Returns what `list` finds once it has found the same thirty times.
template <typename Listed>
Listed settled(Listed (*list)()) {
  Listed last = list();
  for (int look = 0, same = 0; look < 1000 && same < 30; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Listed now = list();
    same = now == last ? same + 1 : 0;
    last = std::move(now);
  }
  return last;
}

// The last warning that NCCL would have shown.
std::string last_warning;

void keep_warning(abi::LogLevel level, unsigned long, const char*, int, const char* format, ...) {
  if (level != abi::kLogWarn) return;
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  last_warning = line;
}

abi::Result init_without_node(int version) {
  auto library = collperf::PluginLibrary::open(CABLEWAY_PLUGIN, version);
  EXPECT_TRUE(library.ok()) << library.status();
  last_warning.clear();
  return library->net().init(1, keep_warning);
}

// What an emulator of user programs handles differently: when a thread is gone, what a failed exec reports.
#ifdef CABLEWAY_EMULATED
#define SKIP_IF_EMULATED() GTEST_SKIP() << "qemu-user answers this for itself, not for the kernel"
#else
#define SKIP_IF_EMULATED() static_cast<void>(0)
#endif

class PluginLifecycle : public testing::TestWithParam<int> {};

TEST_P(PluginLifecycle, FinalizeLeavesNoThreadAndNoDescriptor) {
  SKIP_IF_EMULATED();
  const World world("a");
  { const Rank first(GetParam()); }  // what the loader and the C library retain is allocated here
  const std::ptrdiff_t threads_before = settled(&threads);
  const std::multiset<std::string> descriptors_before = settled(&descriptors);
  for (int round = 0; round < 3; ++round) {
    Rank rank(GetParam());
    auto [sender, receiver] = rank.connect_to_self();
    auto [handle, listener] = rank.listen();
    // An abort leaves comms, a listen comm and a half-open connection behind.
    void* half_open = nullptr;
    Handle copy = handle;
    EXPECT_EQ(rank.net().connect(0, copy.data(), &half_open), abi::kSuccess);
    EXPECT_NE(sender, receiver);
    EXPECT_NE(listener, nullptr);
  }
  EXPECT_EQ(becoming(&threads, threads_before), threads_before);
  // Versions without finalize keep their only context, and its thread, for the lifetime of the process.
  if (GetParam() >= 11) {
    EXPECT_EQ(becoming(&descriptors, descriptors_before), descriptors_before);
  }
}

TEST_P(PluginLifecycle, ABadSettingIsNamed) {
  const World world("a");
  ::setenv("CABLEWAY_NODE", "no body", 1);
  EXPECT_NE(init_without_node(GetParam()), abi::kSuccess);
  EXPECT_THAT(last_warning, testing::HasSubstr("CABLEWAY_NODE is \"no body\""));
}

TEST_P(PluginLifecycle, AMissingDaemonIsNamed) {
  SKIP_IF_EMULATED();
  const World world("a");
  ::setenv("CABLEWAY_DAEMON", "/nonexistent/cablewayd", 1);
  EXPECT_NE(init_without_node(GetParam()), abi::kSuccess);
  EXPECT_THAT(last_warning, testing::HasSubstr("cannot start /nonexistent/cablewayd"));
}

TEST_P(PluginLifecycle, ANodeWithoutTheConfiguredKeyIsRefused) {
  SKIP_IF_EMULATED();
  World world("a");
  world.start("a");
  ::setenv("CABLEWAY_KEY_FILE", "/etc/cableway/key", 1);
  EXPECT_NE(init_without_node(GetParam()), abi::kSuccess);
  ::unsetenv("CABLEWAY_KEY_FILE");
  EXPECT_THAT(last_warning, testing::HasSubstr("the node running here has no key, but CABLEWAY_KEY_FILE names "
                                               "/etc/cableway/key for this process: restart cablewayd"));
}

TEST_P(PluginLifecycle, AnUnknownSettingIsRefused) {
  const World world("a");
  ::setenv("CABLEWAY_TOPOLGY", "typo", 1);
  EXPECT_NE(init_without_node(GetParam()), abi::kSuccess);
  ::unsetenv("CABLEWAY_TOPOLGY");
  EXPECT_THAT(last_warning, testing::HasSubstr("unknown setting CABLEWAY_TOPOLGY"));
}

INSTANTIATE_TEST_SUITE_P(Abi, PluginLifecycle, testing::Values(8, 9, 10, 11, 12),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

TEST(PluginFinalize, OfNothingIsHarmless) {
  void* library = ::dlopen(CABLEWAY_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto* v11 = static_cast<const abi::NetV11*>(::dlsym(library, abi::kNetSymbolV11));
  const auto* v12 = static_cast<const abi::NetV12*>(::dlsym(library, abi::kNetSymbolV12));
  ASSERT_NE(v11, nullptr);
  ASSERT_NE(v12, nullptr);
  EXPECT_EQ(v11->finalize(nullptr), abi::kSuccess);
  EXPECT_EQ(v12->finalize(nullptr), abi::kSuccess);
  EXPECT_EQ(::dlclose(library), 0);
}

}  // namespace
}  // namespace cableway::nccl::test
