#include "tools/cableway/doctor/facts/link_facts.h"

#include <span>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/linux/ports/physical_connector.h"
#include "core/linux/rdma/rdma_ports.h"

namespace cableway::cli {
namespace {

constexpr std::size_t kMaxLinks = 4096;

// Counter names differ by driver.
constexpr const char* kLosses[] = {
    "out_of_sequence",    "packet_seq_err",   "implied_nak_seq_err", "local_ack_timeout_err",
    "rx_discards",        "rx_roce_discards", "port_rcv_errors",     "port_xmit_discards",
    "out_of_seq_request", "rcvd_seq_err",     "res_oos_drop_count",  "seq_err_naks_rcvd",
};
constexpr const char* kCongestion[] = {
    "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts",
};

// The number in "100 Gb/sec (4X EDR)"; 0 if there is none.
double first_number(const std::string& text) {
  double value = 0;
  const bool is_number = absl::SimpleAtod(text.substr(0, text.find(' ')), &value);
  return is_number && value > 0 && value < 1e6 ? value : 0;
}

std::map<std::string, std::uint64_t> read_counters(const host::Sysfs& sysfs, const std::string& port,
                                                   std::span<const char* const> names) {
  std::map<std::string, std::uint64_t> counters;
  for (const char* const name : names) {
    for (const char* const folder : {"hw_counters", "counters"}) {
      std::uint64_t count = 0;
      const std::string text = sysfs.line(absl::StrCat(port, "/", folder, "/", name));
      if (absl::SimpleAtoi(text, &count) && count > 0) counters[name] = count;
    }
  }
  return counters;
}

void read_rdma(const host::Sysfs& sysfs, const host::RdmaPort& port, LinkFacts& facts) {
  constexpr double kMbpsInGbps = 1000;
  const std::string folder = absl::StrCat("class/infiniband/", port.device, "/ports/", port.number);
  facts.rdma_device = port.name();
  if (!port.pci_function.empty()) {
    facts.rdma_rate = sysfs.line(absl::StrCat(folder, "/rate"));
    facts.rdma_rate_mbps = static_cast<std::uint64_t>(first_number(facts.rdma_rate) * kMbpsInGbps);
  }
  facts.losses = read_counters(sysfs, folder, kLosses);
  facts.congestion = read_counters(sysfs, folder, kCongestion);
}

}  // namespace

std::map<std::string, LinkFacts> read_links(const host::Sysfs& sysfs) {
  std::map<std::string, LinkFacts> links;
  const std::vector<host::RdmaPort> ports = host::read_rdma_ports(sysfs);
  std::map<PortId, host::ConnectorClues> clues;
  std::map<PortId, std::string> names;
  for (const std::string& name : sysfs.names("class/net", kMaxLinks)) {
    const host::InterfaceHardware hardware = host::read_interface(sysfs, name);
    const host::RdmaPort* const port = host::rdma_port_of(ports, hardware);
    if (hardware.pci_function.empty() && port == nullptr) continue;
    LinkFacts& facts = links[name];
    facts.pcie = host::read_pcie_link(sysfs, name);
    if (port != nullptr) read_rdma(sysfs, *port, facts);
    const auto id = static_cast<PortId>(names.size() + 1);
    names[id] = name;
    clues[id] = {hardware.pci_function, sysfs.line(absl::StrCat("class/net/", name, "/phys_port_name")),
                 sysfs.line(absl::StrCat("class/net/", name, "/phys_switch_id")), port != nullptr ? port->board : ""};
  }
  for (const auto& [id, plug] : host::find_plugs(clues)) links[names[id]].plug = plug;
  return links;
}

}  // namespace cableway::cli
