#include "tools/cableway/doctor/link_facts.h"

#include <span>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

// The number in "16.0 GT/s PCIe" or "100 Gb/sec (4X EDR)"; 0 if there is none.
double first_number(const std::string& text) {
  double value = 0;
  const bool is_number = absl::SimpleAtod(text.substr(0, text.find(' ')), &value);
  return is_number && value > 0 && value < 1e6 ? value : 0;
}

PcieLink read_pcie(const host::Sysfs& sysfs, const std::string& folder, const char* which) {
  PcieLink link;
  link.gigatransfers = first_number(sysfs.line(absl::StrCat(folder, "/", which, "_link_speed")));
  const bool is_number = absl::SimpleAtoi(sysfs.line(absl::StrCat(folder, "/", which, "_link_width")), &link.lanes);
  // The kernel reports 255 for an unknown width.
  if (!is_number || link.lanes < 1 || link.lanes > 32) link.lanes = 0;
  return link;
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

// 8 of 10 bits are data up to 5 GT/s, 128 of 130 up to 32 GT/s, 236 of 256 bytes from there on.
double PcieLink::gigabits() const {
  const double share = gigatransfers <= 5 ? 8.0 / 10 : gigatransfers <= 32 ? 128.0 / 130 : 236.0 / 256;
  return gigatransfers * lanes * share;
}

std::map<std::string, LinkFacts> read_links(const host::Sysfs& sysfs) {
  std::map<std::string, LinkFacts> links;
  const std::vector<host::RdmaPort> ports = host::read_rdma_ports(sysfs);
  for (const std::string& name : sysfs.names("class/net", kMaxLinks)) {
    const host::InterfaceHardware hardware = host::read_interface(sysfs, name);
    const host::RdmaPort* const port = host::rdma_port_of(ports, hardware);
    if (hardware.pci_function.empty() && port == nullptr) continue;
    LinkFacts& facts = links[name];
    const std::string device = absl::StrCat("class/net/", name, "/device");
    facts.pcie = read_pcie(sysfs, device, "current");
    facts.pcie_max = read_pcie(sysfs, device, "max");
    if (port != nullptr) read_rdma(sysfs, *port, facts);
  }
  return links;
}

}  // namespace cableway::cli
