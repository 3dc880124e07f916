// The options that describe an address plan, of `cableway plan addresses` and `cableway up`.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_REQUEST_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_REQUEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/address_plan/address_plan.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

class PlanRequest {
 public:
  // --topology, --hosts, --interfaces, --subnet, --prefix and --mtu; they refer to this object.
  std::vector<Argument> arguments();

  // Errors of find_topology(), plan_addresses() and of the options' parsers. Without --topology the node is queried.
  absl::StatusOr<AddressPlan> make(const Invocation& invocation) const;

  bool names_topology() const { return !file_.empty(); }
  // Whether another option than --topology differs from its default.
  bool has_details() const;
  int mtu() const { return mtu_; }

 private:
  absl::StatusOr<AddressPlan> plan_of(const routing::Topology& topology) const;

  std::string file_;
  std::vector<std::string> hosts_;
  std::vector<std::string> interfaces_;
  static constexpr char kDefaultRange[] = "10.10.0.0/16";
  static constexpr int kDefaultPrefix = 24;
  static constexpr int kDefaultMtu = 9000;

  std::string range_ = kDefaultRange;
  int prefix_ = kDefaultPrefix;
  int mtu_ = kDefaultMtu;
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_REQUEST_H_
