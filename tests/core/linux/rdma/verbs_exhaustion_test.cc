// What is reported when a device, or a process's limit on it, is exhausted. Each case runs in its own child,
// since a limit stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/core/linux/rdma/verbs_pair.h"

namespace cableway::host {
namespace {

using testing::HasSubstr;

// The text that `body` returns in a child of this process.
std::string text_from_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string words = body();
    static_cast<void>(::write(ends[1], words.data(), words.size()) + 1);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string words(4096, '\0');
  const ssize_t length = ::read(ends[0], words.data(), words.size());
  words.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  ::close(ends[0]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return words;
}

// Without this capability the limit on locked memory also applies to root.
bool drop_lock_capability() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  sets[0].effective &= ~(1U << CAP_IPC_LOCK);
  sets[0].permitted &= ~(1U << CAP_IPC_LOCK);
  return ::syscall(SYS_capset, &header, sets.data()) == 0;
}

std::string lock_too_much() {
  constexpr rlimit kLimit{1U << 20, 1U << 20};
  if (::setrlimit(RLIMIT_MEMLOCK, &kLimit) != 0 || !drop_lock_capability()) return "skip: no limit can be set here";
  const absl::StatusOr<test::UsableDevice> usable = test::usable_device();
  if (!usable.ok()) return absl::StrCat("skip: ", usable.status().message());
  const MappedPages pages = MappedPages::create(2U << 20).value();
  return VerbsMemory::add(usable->device, pages.bytes().data(), pages.bytes().size(), {}).status().ToString();
}

// Puts this process into a cgroup that may have `objects` of each device.
bool enter_group(const std::string& folder, const std::string& device, int objects) {
  ::mkdir(folder.c_str(), 0700);
  if (::mount("cgroup2", folder.c_str(), "cgroup2", 0, nullptr) != 0) return false;
  std::ofstream(folder + "/cgroup.subtree_control") << "+rdma";
  ::mkdir((folder + "/verbs_test").c_str(), 0700);
  if (!(std::ofstream(folder + "/verbs_test/rdma.max") << device << " hca_object=" << objects << std::flush))
    return false;
  return static_cast<bool>(std::ofstream(folder + "/verbs_test/cgroup.procs") << ::getpid() << std::flush);
}

std::string make_queue_pairs(int objects) {
  const absl::StatusOr<test::UsableDevice> found = test::usable_device();
  if (!found.ok()) return absl::StrCat("skip: ", found.status().message());
  if (!enter_group(testing::TempDir() + "/verbs_groups", found->device->name(), objects)) return "skip: no rdma cgroup";
  const absl::StatusOr<test::UsableDevice> usable = test::usable_device();
  if (!usable.ok()) return usable.status().ToString();
  std::vector<std::unique_ptr<VerbsQueuePair>> pairs;
  for (int i = 0; i < objects; ++i) {
    auto pair = VerbsQueuePair::create(usable->device, usable->gid, 1, {});
    if (!pair.ok()) return pair.status().ToString();
    pairs.push_back(*std::move(pair));
  }
  return "all made";
}

TEST(VerbsExhaustion, TheLimitOfLockedMemoryIsNamed) {
  const std::string words = text_from_child(lock_too_much);
  if (words.starts_with("skip: ")) GTEST_SKIP() << words;
  EXPECT_THAT(words, HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(words, HasSubstr("cannot register 2097152 bytes of memory: Cannot allocate memory; this process may lock "
                               "1024 KiB of memory: raise the limit (ulimit -l unlimited"));
}

TEST(VerbsExhaustion, TheLimitOfACgroupIsNamed) {
  // A queue pair uses at least three: itself, its completion queue, and its mailbox's registration.
  const std::string words = text_from_child([] { return make_queue_pairs(20); });
  if (words.starts_with("skip: ")) GTEST_SKIP() << words;
  EXPECT_THAT(words, HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(words, HasSubstr("raise rdma.max"));
}

}  // namespace
}  // namespace cableway::host
