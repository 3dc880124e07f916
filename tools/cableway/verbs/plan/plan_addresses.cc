#include "tools/cableway/verbs/plan/plan_addresses.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/cableway/address_plan/plan_folder.h"
#include "tools/cableway/address_plan/plan_record.h"
#include "tools/cableway/verbs/plan/plan_request.h"

namespace cableway::cli {
namespace {

// In the order of PlanFormat.
constexpr std::array kFormats = {"netplan", "nmcli", "ip"};

std::string sections(const std::vector<PlanFile>& files) {
  std::string text;
  for (const PlanFile& file : files) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", "==> ", file.name, " <==\n", file.text);
  }
  return text;
}

class PlanAddressesVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "plan addresses",
        .summary = "addresses for the cables of a cluster, what to plug in where, and the topology to expect",
        .notes =
            "Each pair of functions gets a subnet. Without --output all files are printed. Without --interfaces, a "
            "file's "
            "own interfaces\nand plugs are kept; a shape, and a file that names none, gets those of DGX Sparks: plug "
            "p0 is "
            "enp1s0f0np0+enP2p1s0f0np0,\np1 is enp1s0f1np1+enP2p1s0f1np1. Addresses in a file are replaced.",
        .examples = {"cableway plan addresses --topology ring:4 --hosts spark-0,spark-1,spark-2,spark-3 --output plan",
                     "cableway plan addresses --topology torus:4x4 --interfaces eth1,eth2,eth3,eth4 --format ip",
                     "cableway plan addresses --topology ring:3 --interfaces spark --interfaces n2=ens1f0,ens1f1",
                     "cableway plan addresses --topology sparks:2 --json | jq .cables"},
        .arguments = plan_arguments()};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<AddressPlan> plan = request_.make(invocation);
    if (!plan.ok()) return plan.status();
    const int mtu = request_.mtu();
    const auto* const format = std::find(kFormats.begin(), kFormats.end(), format_);
    std::vector<PlanFile> files = plan_files(*plan, static_cast<PlanFormat>(format - kFormats.begin()), mtu);
    if (!folder_.empty()) {
      files.push_back({kPlanRecordFile, address_plan_json(*plan, format_, mtu, {})});
      if (absl::Status status = write_plan(folder_, files, force_); !status.ok()) return status;
    }
    if (json_) return Answer{address_plan_json(*plan, format_, mtu, files)};
    return Answer{folder_.empty() ? sections(files) : written_text(*plan, files)};
  }

 private:
  std::string written_text(const AddressPlan& plan, const std::vector<PlanFile>& files) const {
    std::string text = absl::StrCat("written to ", folder_, ":");
    for (const PlanFile& file : files) absl::StrAppend(&text, " ", file.name);
    absl::StrAppend(&text, "\n\n");
    for (const PlannedCable& cable : plan.cables) absl::StrAppend(&text, cabling_text(cable), "\n");
    return text;
  }

  std::vector<Argument> plan_arguments() {
    std::vector<Argument> arguments = request_.arguments();
    arguments.insert(arguments.begin(), json_flag(json_));
    arguments.push_back(
        choice_option("--format", {kFormats.begin(), kFormats.end()}, format_, "format of the files for each host"));
    arguments.push_back(
        text_option("--output", "DIR", folder_, "write the files to this folder").that_names(Argument::Names::kFiles));
    arguments.push_back(flag("--force", force_, "with --output: overwrite files of other content"));
    return arguments;
  }

  bool json_ = false;
  bool force_ = false;
  PlanRequest request_;
  std::string format_ = kFormats[0];
  std::string folder_;
};

}  // namespace

std::unique_ptr<Verb> plan_addresses_verb() {
  return std::make_unique<PlanAddressesVerb>();
}

}  // namespace cableway::cli
