// Feeds bytes to the parsers of hosts: those of --hosts, of host files and of Slurm's lists, selected by the first
// byte. A host that they accept must be safe as an argument of ssh; what they refuse must say what was expected, in
// printable characters.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "tests/fuzz/require.h"
#include "tools/collperf/launch/host_list.h"

namespace {

using cableway::collperf::HostSlots;
using cableway::fuzz::require;

void check_message(const absl::Status& status) {
  const std::string message(status.message());
  require(message.find("; expected ") != std::string::npos, "an error does not say what was expected");
  require(message.size() < 4096, "an error is too long");
  for (const char c : message) {
    require(!absl::ascii_iscntrl(static_cast<unsigned char>(c)), "an error contains a control character");
  }
}

void check_host(const std::string& host) {
  require(!host.empty() && host.front() != '-', "a host reads as an option");
  require(host.find_first_of(" \t\n'\"$`;|&<>()\\") == std::string::npos, "a host has characters of a shell");
  require(!cableway::collperf::address_of(host).empty(), "a host has no address");
}

void check_hosts(const absl::StatusOr<std::vector<HostSlots>>& hosts) {
  if (!hosts.ok()) return check_message(hosts.status());
  require(!hosts->empty() && hosts->size() <= cableway::collperf::kMaxHosts, "the number of hosts is out of bounds");
  for (const HostSlots& host : *hosts) {
    check_host(host.host);
    require(host.slots >= 0 && host.slots <= cableway::collperf::kMaxSlots, "a number of slots is out of bounds");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'f') {
    check_hosts(cableway::collperf::parse_host_file(text));
  } else if (data[0] == 's') {
    const absl::StatusOr<std::string> host = cableway::collperf::first_slurm_host(text);
    host.ok() ? check_host(*host) : check_message(host.status());
  } else {
    check_hosts(cableway::collperf::parse_hosts(text));
  }
  return 0;
}
