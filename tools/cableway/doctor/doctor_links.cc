#include "tools/cableway/doctor/doctor_links.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// InfiniBand's nominal rates differ slightly from Ethernet's.
constexpr double kSameRate = 0.9;

std::string text_of(const std::map<std::string, std::uint64_t>& counters) {
  return absl::StrJoin(counters, ", ", [](std::string* out, const auto& counter) {
    absl::StrAppend(out, counter.first, " ", counter.second);
  });
}

class LinkExamination {
 public:
  LinkExamination(const LinkedPort& port, const LinkFacts& facts) : port_(port), facts_(facts) {}

  std::vector<Finding> run() {
    check_rate();
    check_counters();
    return std::move(findings_);
  }

 private:
  void add(Severity severity, FindingCode code, std::string what, std::string advice) {
    findings_.push_back({severity, std::string(name_of(code)), absl::StrCat("port ", port_.interface), std::move(what),
                         std::move(advice)});
  }

  void check_rate() {
    const auto rate = static_cast<double>(facts_.rdma_rate_mbps);
    if (rate == 0 || rate >= kSameRate * static_cast<double>(port_.link_mbps)) return;
    add(Severity::kWarning, FindingCode::kRdmaLinkSlow,
        absl::StrCat("the link of RDMA device ", facts_.rdma_device, " has ", facts_.rdma_rate,
                     ", less than the interface's ", rate_text(port_.link_mbps)),
        absl::StrCat("some of its lanes may be down: check the cable and its connectors (ethtool ", port_.interface,
                     ", rdma link show)"));
  }

  // The counters start with the device: they show past losses, not necessarily current ones.
  void check_counters() {
    const std::string check_again =
        absl::StrCat("check again after a job (cat /sys/class/infiniband/",
                     facts_.rdma_device.substr(0, facts_.rdma_device.find(':')), "/ports/*/hw_counters/*)");
    if (!facts_.losses.empty()) {
      add(Severity::kInfo, FindingCode::kRdmaLosses,
          absl::StrCat("RDMA device ", facts_.rdma_device,
                       " has counted losses since its start: ", text_of(facts_.losses)),
          absl::StrCat(check_again,
                       "; if they grow, check cable and connectors, and enable flow control at both ends: of the "
                       "priority that CABLEWAY_RDMA_SERVICE_LEVEL selects (PFC), or of the port (ethtool -A ",
                       port_.interface, " rx on tx on)"));
    }
    if (!facts_.congestion.empty()) {
      add(Severity::kInfo, FindingCode::kRdmaCongestion,
          absl::StrCat("RDMA device ", facts_.rdma_device,
                       " has counted congestion since its start: ", text_of(facts_.congestion)),
          absl::StrCat(
              check_again,
              "; a cable without a switch causes none: check for a switch, or a port that shares its PCIe link"));
    }
  }

  const LinkedPort& port_;
  const LinkFacts& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_link(const LinkedPort& port, const LinkFacts& facts) {
  return LinkExamination(port, facts).run();
}

}  // namespace cableway::cli
