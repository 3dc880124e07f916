#include "tools/cableway/up/earlier_plan.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/cableway/up/network_files.h"
#include "tools/cableway/up/plan_parts.h"

namespace cableway::cli {
namespace {

// The names of all parts that the plan may have here.
std::set<std::string> parts_of(const HostPlan& plan, const UpFacts& facts) {
  std::set<std::string> names;
  for (const PlannedInterface& port : plan.ports) {
    for (const PlanPart& part : {address_part(port), mtu_part(port.interface), state_part(port.interface)}) {
      names.insert(part.name);
    }
  }
  for (const WantedFile& file : network_files(plan, facts.network, facts.systemd_runs)) names.insert(file.part.name);
  const std::vector<std::string> twins = twin_interfaces(plan);
  if (!twins.empty()) names.insert(sysctl_file(plan).part.name);
  for (const std::string& interface : twins) {
    for (const char* name : {"arp_ignore", "arp_announce"}) {
      names.insert(file_part(arp_parameter(interface, name)).name);
    }
  }
  if (facts.network == NetworkKind::kIp && facts.systemd_runs) names.insert(unit_part().name);
  return names;
}

// What is left of an earlier step.
enum class Left : std::uint8_t { kNothing, kAll, kOther };

Left left_of(const FileRecord& record, const UpFacts& facts) {
  const auto found = facts.files.find(record.path);
  if (found == facts.files.end() || found->second == record.before) return Left::kNothing;
  return found->second && text_digest(found->second->text) == record.after ? Left::kAll : Left::kOther;
}

Left left_of(const ValueRecord& record, const UpFacts& facts) {
  const auto found = facts.values.find(record.path);
  if (found == facts.values.end() || found->second == record.before) return Left::kNothing;
  return found->second == record.after ? Left::kAll : Left::kOther;
}

Left left_of(const CommandRecord& record, const UpFacts& facts) {
  if (record.part.interface.empty()) return Left::kAll;
  const auto found = facts.interfaces.find(record.part.interface);
  if (found == facts.interfaces.end()) return Left::kNothing;
  const std::vector<std::string>& addresses = found->second.addresses;
  const bool has_address = std::find(addresses.begin(), addresses.end(), record.part.address) != addresses.end();
  return record.part.address.empty() || has_address ? Left::kAll : Left::kNothing;
}

bool is_network_file(const Record& record) {
  const auto* const file = std::get_if<FileRecord>(&record);
  return file != nullptr && file->path != kSysctlPath;
}

}  // namespace

void add_earlier_plan(const HostPlan& plan, const UpFacts& facts, UpChanges& all) {
  const std::set<std::string> wanted = parts_of(plan, facts);
  bool reloads = false;
  for (std::size_t place = facts.earlier.size(); place-- > 0;) {
    const Record& record = facts.earlier[place];
    const PlanPart& part = std::visit([](const auto& each) -> const PlanPart& { return each.part; }, record);
    if (part.name.empty() || wanted.count(part.name) != 0) continue;
    const Left left = std::visit([&](const auto& each) { return left_of(each, facts); }, record);
    if (left == Left::kOther) {
      all.remarks.push_back(absl::StrCat(part.name, ", of an earlier plan, was changed since: it stays as it is"));
      continue;
    }
    const bool is_there = left == Left::kAll;
    reloads |= is_there && is_network_file(record);
    all.changes.push_back({{{part.name, is_there ? "of an earlier plan" : "of an earlier plan, gone",
                             is_there ? "taken back" : "forgotten"}},
                           TakenBack{place, is_there},
                           {}});
    all.changes.back().part.name = part.name;
  }
  if (reloads) all.changes.push_back({{}, CommandChange{reload_words(facts.network), {}}, {}});
}

}  // namespace cableway::cli
