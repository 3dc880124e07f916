#include "core/linux/ports/port_selection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/event/event_code.h"
#include "core/linux/ports/physical_connector.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"

namespace cableway::host {
namespace {

using routing::PortAddress;

// IPv4, then global IPv6, then link-local IPv6.
int rank_of(const KernelAddress& address) {
  if (!address.prefix.address.is_ipv6) return 0;
  return address.prefix.address.is_ipv6_link_local() ? 2 : 1;
}

// One pass over the interfaces, in the order of their IDs.
class Selection {
 public:
  Selection(const KernelNetwork& network, const DeviceFacts& devices, const std::vector<PortSelector>& selectors)
      : network_(network), devices_(devices), selectors_(selectors), is_matched_(selectors.size(), false) {}

  PortSelection run() {
    for (const auto& [id, link] : network_.links) consider(id, link);
    add_plugs();
    reject_unmatched_selectors();
    if (found_.ports.empty()) found_.status = status();
    return std::move(found_);
  }

 private:
  void consider(PortId id, const KernelLink& link);
  bool is_named(const KernelLink& link);
  bool is_inside_a_prefix(const PortAddress& address);
  std::string why_not(PortId id, const KernelLink& link, bool selected) const;
  std::vector<PortPrefix> usable(const KernelLink& link, const std::vector<KernelAddress>& selected);
  void add_rdma(const KernelLink& link, PortFacts& port);
  void add_root(PortFacts& port);
  void add_plugs();
  void reject_unmatched_selectors();
  std::string status() const;

  std::string pci_function(PortId id) const {
    const auto found = devices_.pci_functions.find(id);
    return found == devices_.pci_functions.end() ? "" : found->second;
  }
  const RdmaPort* rdma_port(PortId id, const KernelLink& link) const {
    const auto port = devices_.function_ports.find(id);
    const int function_port = port == devices_.function_ports.end() ? 0 : port->second;
    return rdma_port_of(devices_.rdma, {link.name, pci_function(id), function_port});
  }
  void reject(const std::string& interface, std::string reason, bool requested) {
    found_.rejected.push_back(RejectedPort{interface, std::move(reason), requested});
  }
  // The port that already uses this address. A link-local IPv6 address differs for each interface.
  std::optional<std::string> owner_of(const PortAddress& address) const {
    for (const PortFacts& port : found_.ports) {
      for (const PortPrefix& prefix : port.addresses) {
        if (prefix.address == address) return port.interface;
      }
    }
    return std::nullopt;
  }

  const KernelNetwork& network_;
  const DeviceFacts& devices_;
  const std::vector<PortSelector>& selectors_;
  std::vector<bool> is_matched_;  // for each selector
  PortSelection found_;
};

bool Selection::is_named(const KernelLink& link) {
  bool named = false;
  for (std::size_t i = 0; i < selectors_.size(); ++i) {
    if (selectors_[i].interface != link.name) continue;
    named = true;
    is_matched_[i] = true;
  }
  return named;
}

bool Selection::is_inside_a_prefix(const PortAddress& address) {
  bool inside = false;
  for (std::size_t i = 0; i < selectors_.size(); ++i) {
    if (!selectors_[i].interface.empty() || !contains(selectors_[i].prefix, address)) continue;
    inside = true;
    is_matched_[i] = true;
  }
  return inside;
}

// Empty if nothing prevents the use.
std::string Selection::why_not(PortId id, const KernelLink& link, bool selected) const {
  if (!selectors_.empty() && !selected) return "CABLEWAY_PORTS names neither it nor an address of it";
  if (link.loopback && !selected) return "is the loopback interface, which is used only if CABLEWAY_PORTS names it";
  const RdmaPort* const rdma = rdma_port(id, link);
  if (!selected && link.master == 0 && rdma == nullptr) {
    return "has no RDMA device; to use it anyway, name it in CABLEWAY_PORTS";
  }
  if (!selected && link.master == 0 && !rdma->is_ethernet()) {
    return absl::StrCat("is on ", rdma->link_layer,
                        ", not Ethernet; to use it anyway, name it in CABLEWAY_PORTS and set CABLEWAY_TRANSPORT=tcp");
  }
  const auto master = network_.links.find(link.master);
  if (link.master != 0 && (master == network_.links.end() || master->second.kind != "vrf")) {
    const std::string group = master == network_.links.end() ? "another interface" : master->second.name;
    return absl::StrCat("is a member of ", group, ", which carries its traffic: name that interface");
  }
  if (!link.up) return absl::StrCat("is down: ip link set ", link.name, " up");
  return "";
}

std::vector<PortPrefix> Selection::usable(const KernelLink& link, const std::vector<KernelAddress>& selected) {
  const bool requested = !selectors_.empty();
  std::vector<PortPrefix> prefixes;
  for (const KernelAddress& address : selected) {
    const std::string text = to_text(address.prefix.address);
    if (address.duplicate) {
      reject(link.name, absl::StrCat("address ", text, " is also used by another host: change one of them"), requested);
    } else if (address.tentative) {
      reject(link.name, absl::StrCat("address ", text, " is tentative: duplicate address detection has not finished"),
             requested);
    } else if (const auto owner = owner_of(address.prefix.address)) {
      reject(link.name, absl::StrCat("address ", text, " is already used by ", *owner), requested);
    } else {
      prefixes.push_back(address.prefix);
    }
  }
  return prefixes;
}

void Selection::add_rdma(const KernelLink& link, PortFacts& port) {
  const RdmaPort* const rdma = rdma_port(port.id, link);
  if (rdma == nullptr) return;
  port.rdma_device = rdma->name();
  const absl::StatusOr<int> gid = usable_gid(*rdma, link.name, port.addresses.front().address);
  if (gid.ok()) {
    port.gid_index = *gid;
    port.rdma_mtu = rdma->mtu;
  } else {
    port.rdma_trouble = std::string(gid.status().message());
  }
}

// Sets what the port can carry: the lesser of its link and root where both are known. If the link's rate is unknown, so
// is the port's: the root's would be a guess.
void Selection::add_root(PortFacts& port) {
  port.rate_mbps = port.link_mbps;
  const auto link = devices_.pcie_links.find(port.id);
  if (link == devices_.pcie_links.end()) return;
  port.root = link->second.root;
  port.root_mbps = link->second.current.rate_mbps();
  if (port.root_mbps > 0) port.rate_mbps = std::min(port.rate_mbps, port.root_mbps);
}

void Selection::consider(PortId id, const KernelLink& link) {
  const bool named = is_named(link);
  std::vector<KernelAddress> addresses;
  bool in_prefix = false;
  for (const KernelAddress& address : network_.addresses) {
    if (address.link != id) continue;
    const bool inside = is_inside_a_prefix(address.prefix.address);
    in_prefix = in_prefix || inside;
    if (named || inside || selectors_.empty()) addresses.push_back(address);
  }
  std::stable_sort(addresses.begin(), addresses.end(),
                   [](const KernelAddress& a, const KernelAddress& b) { return rank_of(a) < rank_of(b); });

  const bool selected = named || in_prefix;
  if (!routing::is_valid_interface_name(link.name)) {
    const char* const why =
        link.name.starts_with('-') ? " begins with -, as an option" : " cannot be written as a scope";
    return reject(link.name, absl::StrCat("its name ", routing::in_quotes(link.name), why), selected);
  }
  if (std::string why = why_not(id, link, selected); !why.empty()) return reject(link.name, std::move(why), selected);
  if (addresses.empty()) {
    return reject(link.name,
                  absl::StrCat("has no address: not even a link-local one",
                               link.carrier ? "" : ", which needs a carrier; there is none"),
                  selected);
  }

  PortFacts port;
  port.id = id;
  port.interface = link.name;
  port.carrier = link.carrier;
  port.mtu = link.mtu;
  port.addresses = usable(link, addresses);
  if (port.addresses.empty()) return;
  if (const auto rate = devices_.rates_mbps.find(id); rate != devices_.rates_mbps.end()) port.link_mbps = rate->second;
  add_root(port);
  add_rdma(link, port);
  found_.ports.push_back(std::move(port));
}

void Selection::add_plugs() {
  std::map<PortId, ConnectorClues> clues;
  for (const auto& [id, link] : network_.links) {
    const RdmaPort* device = rdma_port(id, link);
    clues[id] = ConnectorClues{pci_function(id), link.phys_port_name, link.phys_switch_id,
                               device == nullptr ? "" : device->board};
  }
  const std::map<PortId, std::string> plugs = find_plugs(clues);
  for (PortFacts& port : found_.ports) {
    if (const auto plug = plugs.find(port.id); plug != plugs.end()) port.plug = plug->second;
  }
}

void Selection::reject_unmatched_selectors() {
  for (std::size_t i = 0; i < selectors_.size(); ++i) {
    if (is_matched_[i]) continue;
    // An unmatched prefix is fine if there are other ports: its cable may be plugged in later.
    const bool is_prefix = selectors_[i].interface.empty();
    reject(to_text(selectors_[i]),
           is_prefix ? "is in CABLEWAY_PORTS, but no interface has an address inside it"
                     : "is in CABLEWAY_PORTS, but there is no such interface",
           !is_prefix || found_.ports.empty());
  }
}

std::string Selection::status() const {
  if (selectors_.empty()) {
    return absl::StrCat("no port: this host has no usable RoCE device; ",
                        routing::absl_view(kind_of(EventCode::kNoPorts).advice));
  }
  std::vector<std::string> reasons;
  for (const RejectedPort& rejected : found_.rejected) {
    if (rejected.reason.find("names neither") != std::string::npos) continue;
    reasons.push_back(absl::StrCat(rejected.interface, " ", rejected.reason));
  }
  return absl::StrCat("no port: ", absl::StrJoin(reasons, "; "));
}

}  // namespace

PortSelection select_ports(const KernelNetwork& network, const DeviceFacts& devices,
                           const std::vector<PortSelector>& selectors) {
  return Selection(network, devices, selectors).run();
}

}  // namespace cableway::host
