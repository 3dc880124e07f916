#include "core/discovery/cable_addresses.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway {
namespace {

using routing::PortAddress;

int family_rank(const PortAddress& address) {
  if (!address.is_ipv6) return 0;
  return address.is_ipv6_link_local() ? 2 : 1;
}

std::optional<AddressRank> rank(const HelloAddress& ours, const HelloAddress& theirs) {
  const PortPrefix& a = ours.prefix;
  const PortPrefix& b = theirs.prefix;
  const bool one_subnet =
      a.prefix_length == b.prefix_length && routing::in_same_prefix(a.address, b.address, a.prefix_length);
  if (!one_subnet) return std::nullopt;
  return AddressRank{ours.shared || theirs.shared, family_rank(a.address), std::min(a.address, b.address),
                     std::max(a.address, b.address)};
}

std::string list(const std::vector<HelloAddress>& addresses) {
  if (addresses.empty()) return "no address";
  return absl::StrJoin(addresses, ", ", [](std::string* out, const HelloAddress& address) {
    absl::StrAppend(out, routing::to_text(address.prefix.address), "/", address.prefix.prefix_length);
  });
}

// The configured addresses: link-local ones always exist.
std::vector<HelloAddress> given(const std::vector<HelloAddress>& addresses) {
  std::vector<HelloAddress> result;
  std::copy_if(addresses.begin(), addresses.end(), std::back_inserter(result),
               [](const HelloAddress& address) { return !address.prefix.address.is_ipv6_link_local(); });
  return result;
}

std::string do_not_match(const std::string& ours, const std::string& theirs, const std::vector<HelloAddress>& here,
                         const std::vector<HelloAddress>& there) {
  return absl::StrCat(ours, " has ", list(here), " and ", theirs, " has ", list(there),
                      ": give both ends addresses of one subnet, with the same prefix length");
}

}  // namespace

std::vector<HelloAddress> hello_addresses(const PortFacts& port, const std::vector<PortFacts>& all) {
  std::vector<HelloAddress> addresses;
  for (const PortPrefix& prefix : port.addresses) {
    if (addresses.size() == kMaxHelloAddresses) break;
    HelloAddress address{prefix, false};
    address.prefix.address.scope.clear();
    const auto shares = [&](const PortFacts& other) {
      return other.id != port.id &&
             std::any_of(other.addresses.begin(), other.addresses.end(), [&](const PortPrefix& each) {
               return routing::in_same_prefix(each.address, prefix.address,
                                              std::min(each.prefix_length, prefix.prefix_length));
             });
    };
    // A link-local subnet is local to its interface.
    address.shared = !prefix.address.is_ipv6_link_local() && std::any_of(all.begin(), all.end(), shares);
    addresses.push_back(std::move(address));
  }
  return addresses;
}

std::optional<AddressRank> best_rank(const std::vector<HelloAddress>& ours, const std::vector<HelloAddress>& theirs) {
  std::optional<AddressRank> best;
  for (const HelloAddress& a : ours) {
    for (const HelloAddress& b : theirs) {
      const std::optional<AddressRank> candidate = rank(a, b);
      if (!candidate || a.prefix.address.is_ipv6_link_local()) continue;
      best = best ? std::min(*best, *candidate) : *candidate;
    }
  }
  return best;
}

absl::StatusOr<CableAddresses> match_ports(const PortFacts& port, const std::vector<HelloAddress>& ours,
                                           const PortHello& theirs) {
  const std::string here = absl::StrCat("port ", port.interface);
  const std::string there = absl::StrCat("port ", theirs.interface, " of node ", theirs.node);
  if (port.mtu != theirs.mtu) {
    return absl::FailedPreconditionError(absl::StrCat(here, " has MTU ", port.mtu, " and ", there, " has ", theirs.mtu,
                                                      ": set both to the same (ip link set dev ", port.interface,
                                                      " mtu ..)"));
  }
  std::optional<AddressRank> best;
  CableAddresses result;
  for (const HelloAddress& a : ours) {
    for (const HelloAddress& b : theirs.addresses) {
      if (a.prefix.address == b.prefix.address) {
        return absl::FailedPreconditionError(absl::StrCat(here, " and ", there, " both have address ",
                                                          routing::to_text(a.prefix.address),
                                                          ": give one of them another"));
      }
      const std::optional<AddressRank> candidate = rank(a, b);
      if (!candidate.has_value() || (best.has_value() && *best <= *candidate)) continue;
      best = candidate;
      result.ours = a.prefix.address;
      result.theirs = b.prefix.address;
    }
  }
  if (!best.has_value()) {
    return absl::FailedPreconditionError(do_not_match(here, there, ours, theirs.addresses));
  }
  if (result.ours.is_ipv6_link_local()) {
    result.ours.scope = port.interface;
    result.theirs.scope = port.interface;
    const std::vector<HelloAddress> given_here = given(ours);
    const std::vector<HelloAddress> given_there = given(theirs.addresses);
    // No remark if no addresses are configured, or if a subnet is on several cables: link-local ones are right then.
    if (!given_here.empty() && !given_there.empty() && !std::get<0>(*best) &&
        std::none_of(given_here.begin(), given_here.end(), [](const HelloAddress& each) { return each.shared; }) &&
        std::none_of(given_there.begin(), given_there.end(), [](const HelloAddress& each) { return each.shared; })) {
      result.remark = absl::StrCat(do_not_match(here, there, given_here, given_there),
                                   "; until then link-local addresses are used");
    }
  }
  return result;
}

}  // namespace cableway
