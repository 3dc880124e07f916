// A neighbour table in memory, for any thread.
#ifndef CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_NEIGHBOURS_H_
#define CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_NEIGHBOURS_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/linux/os/neighbour_table.h"

namespace cableway::host::test {

// Of two interfaces of one host on one wire: the one with the address, and the other one.
inline constexpr char kRight[] = "02:00:00:00:00:20";
inline constexpr char kTwin[] = "02:00:00:00:00:21";

struct FakeNeighbours final : NeighbourTable {
  std::mutex mutex;
  std::map<std::string, std::string> entries;  // Ethernet addresses by "INDEX ADDRESS"
  bool may_set = true;
  absl::Status trouble;  // returned by find() if not OK
  // The entry that appears after a first look has found none; "": none does.
  std::string learnt_at_second_look;

  absl::StatusOr<std::optional<EthernetAddress>> find(std::uint32_t interface,
                                                      const routing::PortAddress& address) override {
    const std::lock_guard lock(mutex);
    if (!trouble.ok()) return trouble;
    const std::string key = key_of(interface, address);
    if (const auto found = entries.find(key); found != entries.end()) return parse_ethernet_address(found->second);
    if (!learnt_at_second_look.empty()) entries[key] = learnt_at_second_look;
    return std::nullopt;
  }
  absl::Status set(std::uint32_t interface, const routing::PortAddress& address,
                   const EthernetAddress& ethernet) override {
    const std::lock_guard lock(mutex);
    if (!may_set) return absl::PermissionDeniedError("not permitted");
    entries[key_of(interface, address)] = to_text(ethernet);
    return absl::OkStatus();
  }

  static std::string key_of(std::uint32_t interface, routing::PortAddress address) {
    address.scope.clear();
    return absl::StrCat(interface, " ", to_text(address));
  }
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_RDMA_FAKE_NEIGHBOURS_H_
