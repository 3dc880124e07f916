#include "core/linux/rdma/right_neighbour.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

absl::Status wrong(const CableNeighbour& neighbour, const EthernetAddress& found) {
  // Short, because a circuit's failure has room for 512 bytes.
  return absl::FailedPreconditionError(absl::StrCat(
      "RDMA over ", neighbour.interface, " would reach the wrong interface: ", to_text(neighbour.address), " is ",
      to_text(neighbour.ethernet), " on its own host, but ", to_text(found),
      " in this host's neighbour table: another interface of that host answers for this address. There: sysctl -w ",
      neighbour.address.is_ipv6 ? "net.ipv6.conf.all.proxy_ndp=0" : "net.ipv4.conf.all.arp_ignore=1",
      "; then here: ip neigh flush dev ", neighbour.interface, " (with CAP_NET_ADMIN, Cableway corrects the entry)"));
}

}  // namespace

absl::Status direct_to_neighbour(NeighbourTable& table, const CableNeighbour& neighbour) {
  const absl::StatusOr<std::optional<EthernetAddress>> found = table.find(neighbour.index, neighbour.address);
  if (!found.ok()) return found.status();
  if (*found == neighbour.ethernet) return absl::OkStatus();
  absl::Status set = table.set(neighbour.index, neighbour.address, neighbour.ethernet);
  if (!absl::IsPermissionDenied(set)) return set;
  return found->has_value() ? wrong(neighbour, **found) : absl::OkStatus();
}

absl::Status confirm_neighbour(NeighbourTable& table, const CableNeighbour& neighbour) {
  const absl::StatusOr<std::optional<EthernetAddress>> found = table.find(neighbour.index, neighbour.address);
  if (!found.ok()) return found.status();
  if (*found == neighbour.ethernet) return absl::OkStatus();
  if (found->has_value()) return wrong(neighbour, **found);
  return absl::UnavailableError(absl::StrCat("this host's neighbour table has lost ", to_text(neighbour.address),
                                             " on ", neighbour.interface, " while RDMA was set up"));
}

}  // namespace cableway::host
