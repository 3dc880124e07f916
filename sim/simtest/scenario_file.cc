#include "sim/simtest/scenario_file.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_link.h"
#include "core/rdma/rdma_queue_pair.h"
#include "routing/text/hardened_toml.h"

namespace cableway::sim {
namespace {

constexpr routing::TomlBounds kBounds{std::size_t{64} << 10, 4096};
constexpr std::uint64_t kMaxNodes = 256;
constexpr std::size_t kMaxCables = 1024;
// The limits of stub devices: number of devices, and registered memory per device.
constexpr std::size_t kMaxRdmaCables = 100;
constexpr std::size_t kMaxRdmaMessages = 8192;
constexpr std::size_t kMaxFlows = 256;
constexpr std::uint64_t kMaxMessages = 10'000;
constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxMs = 3'600'000;
constexpr std::uint64_t kMaxNumber = INT64_MAX;

// Reads one file; stops at the first error.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file_name) : text_(text), file_(file_name) {}

  absl::StatusOr<Scenario> read() {
    absl::StatusOr<toml::table> table = routing::parse_hardened(text_, file_, kBounds, "a scenario");
    if (!table.ok()) return table.status();
    check_keys(*table, "the scenario", {"about", "seed", "topology", "timing", "circuits", "flow", "fault", "expect"});
    const std::optional<std::string> about = (*table)["about"].value<std::string>();
    if (!about.has_value() || about->empty()) fault(*table, "there is no about; expected a sentence in quotes");
    scenario_.about = about.value_or("");
    scenario_.plan.seed = number(*table, "seed", 0, kMaxNumber, 1);
    read_topology(*table);
    read_timing(*table);
    read_circuits(*table);
    for_each(*table, "flow", kMaxFlows, [this](const toml::table& flow) { read_flow(flow); });
    check_rdma_messages(*table);
    for_each(*table, "fault", kMaxFaults, [this](const toml::table& fault) { read_fault(fault); });
    read_expectations(*table);
    if (!status_.ok()) return status_;
    return std::move(scenario_);
  }

 private:
  void fault(const toml::node& node, const std::string& message) {
    if (status_.ok()) status_ = routing::toml_fault(file_, routing::line_of(node), message);
  }
  void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string_view>& known) {
    if (status_.ok()) status_ = routing::check_toml_keys(table, file_, what, known);
  }

  std::uint64_t number(const toml::table& table, const char* key, std::uint64_t least, std::uint64_t most,
                       std::uint64_t otherwise) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    return number(*node, key, least, most);
  }
  std::uint64_t number(const toml::node& node, const char* name, std::uint64_t least, std::uint64_t most) {
    const toml::value<std::int64_t>* value = node.as_integer();
    if (value != nullptr && value->get() >= 0 && static_cast<std::uint64_t>(value->get()) >= least &&
        static_cast<std::uint64_t>(value->get()) <= most) {
      return static_cast<std::uint64_t>(value->get());
    }
    fault(node, absl::StrCat(name, " is not valid; expected a whole number from ", least, " to ", most));
    return least;
  }
  Duration ms(const toml::table& table, const char* key, std::uint64_t least, std::uint64_t otherwise) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(number(table, key, least, kMaxMs, otherwise)));
  }

  template <typename Visit>
  void for_each(const toml::table& table, const char* key, std::size_t most, const Visit& visit) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > most) {
      return fault(*node, absl::StrCat(key, " is not valid; expected [[", key, "]] tables, ", most, " at most"));
    }
    for (const toml::node& each : *list) {
      if (!each.is_table()) return fault(each, absl::StrCat(key, " is not valid; expected [[", key, "]] tables"));
      visit(*each.as_table());
    }
  }

  const toml::table* section(const toml::table& table, const char* key, bool required) {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      if (required) fault(table, absl::StrCat("there is no [", key, "]; expected one"));
      return nullptr;
    }
    if (!node->is_table()) fault(*node, absl::StrCat(key, " is not valid; expected a table [", key, "]"));
    return node->as_table();
  }

  std::vector<std::uint32_t> node_list(const toml::table& table, const char* key) {
    std::vector<std::uint32_t> list;
    const toml::node* node = table.get(key);
    if (node == nullptr) return list;
    if (!node->is_array()) {
      fault(*node, absl::StrCat(key, " is not valid; expected a list of nodes"));
      return list;
    }
    for (const toml::node& each : *node->as_array()) {
      list.push_back(static_cast<std::uint32_t>(number(each, key, 0, scenario_.plan.shape.nodes - 1ULL)));
    }
    std::vector<std::uint32_t> sorted = list;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end() || list.size() > kMaxNodes) {
      fault(*node, absl::StrCat(key, " names a node twice; expected each once"));
    }
    return list;
  }

  void add_cables(const toml::table& table, const char* key, std::size_t each_is) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    std::vector<CablePlan>& cables = scenario_.plan.shape.cables;
    const auto wrong = [&](const toml::node& at) {
      fault(at, absl::StrCat(key, " is not valid; expected pairs of different nodes such as [[0, 1], [1, 2]], ",
                             kMaxCables, " at most"));
    };
    if (!node->is_array() || node->as_array()->size() > kMaxCables) return wrong(*node);
    for (const toml::node& each : *node->as_array()) {
      const toml::array* pair = each.as_array();
      if (pair == nullptr || pair->size() != 2) return wrong(each);
      const std::uint64_t last = scenario_.plan.shape.nodes - 1ULL;
      const auto a = static_cast<std::uint32_t>(number(*pair->get(0), key, 0, last));
      const auto b = static_cast<std::uint32_t>(number(*pair->get(1), key, 0, last));
      if (a == b) return wrong(each);
      const std::string plug = each_is == 1 ? "" : absl::StrCat("plug", cables.size());
      cables.insert(cables.end(), each_is, CablePlan{a, b, plug});
    }
  }

  void read_topology(const toml::table& table) {
    const toml::table* topology = section(table, "topology", true);
    if (topology == nullptr) return;
    check_keys(*topology, "[topology]", {"nodes", "cables", "twins", "switch", "draining", "rdma"});
    ShapePlan& shape = scenario_.plan.shape;
    shape.nodes = static_cast<std::uint32_t>(number(*topology, "nodes", 2, kMaxNodes, 2));
    add_cables(*topology, "cables", 1);
    add_cables(*topology, "twins", 2);
    shape.switch_members = node_list(*topology, "switch");
    shape.draining = node_list(*topology, "draining");
    if (shape.switch_members.size() == 1) fault(*topology, "switch has one node; expected two at least");
    if (shape.segments() == 0) return fault(*topology, "there is no cable; expected one at least");
    read_rdma(*topology);
  }

  void read_rdma(const toml::table& topology) {
    const toml::node* node = topology.get("rdma");
    if (node == nullptr) return;
    if (!node->is_array() || node->as_array()->size() > kMaxRdmaCables) {
      return fault(*node, absl::StrCat("rdma is not valid; expected a list of cables, ", kMaxRdmaCables, " at most"));
    }
    ShapePlan& shape = scenario_.plan.shape;
    for (const toml::node& each : *node->as_array()) {
      const std::uint64_t cable = number(each, "rdma", 0, shape.segments() - 1);
      if (cable == shape.cables.size()) {
        shape.rdma_at_switch = true;
      } else {
        shape.cables[cable].rdma_at_a = shape.cables[cable].rdma_at_b = true;
      }
      has_rdma_ = true;
    }
    // The worst behaviour that devices are allowed.
    scenario_.plan.rdma.max_lag = std::chrono::milliseconds(2);
    scenario_.plan.rdma.max_late_writes = RdmaQueuePair::kMaxWrites;
  }

  void check_rdma_messages(const toml::table& table) {
    std::size_t messages = 0;
    for (const FlowPlan& flow : scenario_.plan.flows) messages += flow.messages.size();
    if (!has_rdma_ || messages <= kMaxRdmaMessages) return;
    fault(table, absl::StrCat("there are ", messages, " messages, and cables with RDMA; expected ", kMaxRdmaMessages,
                              " at most"));
  }

  void read_timing(const toml::table& table) {
    const toml::table* timing = section(table, "timing", false);
    if (timing == nullptr) return;
    check_keys(*timing, "[timing]", {"hello_ms", "hold_ms", "pulse_ms", "stalls_ms"});
    SimtestPlan& plan = scenario_.plan;
    plan.hello = std::chrono::milliseconds(static_cast<std::int64_t>(number(*timing, "hello_ms", 10, 1000, 100)));
    plan.hold = std::chrono::milliseconds(static_cast<std::int64_t>(number(*timing, "hold_ms", 50, 10'000, 1000)));
    plan.pulse = std::chrono::milliseconds(static_cast<std::int64_t>(number(*timing, "pulse_ms", 0, 100, 0)));
    plan.stalls = std::chrono::milliseconds(static_cast<std::int64_t>(number(*timing, "stalls_ms", 0, 100, 0)));
    if (plan.hold < 3 * plan.hello) fault(*timing, "hold_ms is too short; expected three times hello_ms at least");
  }

  void read_circuits(const toml::table& table) {
    const toml::table* circuits = section(table, "circuits", false);
    if (circuits == nullptr) return;
    check_keys(*circuits, "[circuits]", {"path_wait_ms", "wanted"});
    SimtestPlan& plan = scenario_.plan;
    plan.path_wait =
        std::chrono::milliseconds(static_cast<std::int64_t>(number(*circuits, "path_wait_ms", 0, 60'000, 30'000)));
    plan.circuits = static_cast<std::size_t>(number(*circuits, "wanted", 1, 4, 1));
  }

  void read_flow(const toml::table& table) {
    check_keys(table, "[[flow]]",
               {"from", "to", "messages", "bytes", "begins_ms", "receiver_waits_ms", "sender_waits_ms", "in_flight",
                "chunk_bytes", "ordinal"});
    const std::uint64_t last = scenario_.plan.shape.nodes - 1ULL;
    FlowPlan flow;
    flow.source = static_cast<std::uint32_t>(number(table, "from", 0, last, 0));
    flow.destination = static_cast<std::uint32_t>(number(table, "to", 0, last, last));
    flow.ordinal = number(table, "ordinal", 0, 1000, 0);
    flow.begins = ms(table, "begins_ms", 0, 500);
    flow.in_flight = static_cast<std::uint32_t>(number(table, "in_flight", 1, kMaxLandings, 8));
    flow.chunk_bytes = static_cast<std::uint32_t>(number(table, "chunk_bytes", 128, 65536, 65536)) / 128 * 128;
    MessagePlan message;
    message.bytes = number(table, "bytes", 0, kMaxBytes, 65536);
    message.capacity = message.bytes;
    message.source_waits = ms(table, "sender_waits_ms", 0, 0);
    message.destination_waits = ms(table, "receiver_waits_ms", 0, 0);
    const std::uint64_t messages = number(table, "messages", 1, kMaxMessages, 1);
    if (messages * message.bytes > 4 * kMaxBytes) {
      fault(table, absl::StrCat("the flow is too large; expected ", 4 * kMaxBytes, " bytes in all messages at most"));
      return;
    }
    flow.messages.assign(messages, message);
    scenario_.plan.limit += flow.begins + messages * (message.source_waits + message.destination_waits);
    scenario_.plan.flows.push_back(std::move(flow));
  }

  void read_fault(const toml::table& table) {
    check_keys(table, "[[fault]]", {"kind", "at_ms", "lasts_ms", "target", "amount"});
    const toml::node* kind = table.get("kind");
    if (kind == nullptr || !kind->is_string()) return fault(table, "the fault has no kind; expected one in quotes");
    const absl::StatusOr<FaultKind> known = parse_fault_kind(kind->as_string()->get());
    if (!known.ok()) return fault(*kind, std::string(known.status().message()));
    Fault made;
    made.kind = *known;
    made.at = ms(table, "at_ms", 0, 0);
    made.lasts = ms(table, "lasts_ms", 0, 0);
    made.target = static_cast<std::uint32_t>(number(table, "target", 0, target_count(scenario_.plan, *known) - 1, 0));
    made.amount = number(table, "amount", 0, kMaxNumber, 0);
    const bool may_stay = made.kind == FaultKind::kCut || made.kind == FaultKind::kSilence ||
                          made.kind == FaultKind::kLarge || made.kind == FaultKind::kPartition ||
                          made.kind == FaultKind::kDrift || made.kind == FaultKind::kDrainCable ||
                          (target_of(made.kind) != FaultTarget::kCable && made.kind != FaultKind::kSlow &&
                           made.kind != FaultKind::kRefuse && made.kind != FaultKind::kStop &&
                           made.kind != FaultKind::kFalseVerdict && made.kind != FaultKind::kCutAnswer);
    if (made.lasts == Duration{0} && !may_stay) fault(table, "the fault never ends; expected lasts_ms of at least 1");
    scenario_.plan.sealed = scenario_.plan.sealed || needs_key(made.kind);
    scenario_.plan.faults.push_back(made);
  }

  void read_expectations(const toml::table& table) {
    const toml::table* expect = section(table, "expect", true);
    if (expect == nullptr) return;
    check_keys(*expect, "[expect]",
               {"done_at_least", "failed_at_most", "circuits_at_least", "silent_at_least", "still_at_least",
                "verdicts_at_most", "cuts_at_least", "drained_left_within_ms"});
    scenario_.done_at_least = number(*expect, "done_at_least", 0, kMaxNumber, 0);
    scenario_.failed_at_most = number(*expect, "failed_at_most", 0, kMaxNumber, 0);
    scenario_.circuits_at_least = number(*expect, "circuits_at_least", 0, kMaxNumber, 0);
    scenario_.silent_at_least = number(*expect, "silent_at_least", 0, kMaxNumber, 0);
    scenario_.still_at_least = number(*expect, "still_at_least", 0, kMaxNumber, 0);
    scenario_.verdicts_at_most = number(*expect, "verdicts_at_most", 0, kMaxNumber, UINT64_MAX);
    scenario_.cuts_at_least = number(*expect, "cuts_at_least", 0, kMaxNumber, 0);
    if (expect->contains("drained_left_within_ms")) {
      scenario_.drained_left_within = ms(*expect, "drained_left_within_ms", 0, 0);
    }
  }

  const std::string_view text_;
  const std::string_view file_;
  Scenario scenario_;
  bool has_rdma_ = false;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Scenario> parse_scenario(std::string_view text, std::string_view file_name) {
  return Reader(text, file_name).read();
}

absl::Status check_expectations(const Scenario& scenario, const SimtestResult& result) {
  const auto missed = [](const std::string& what, std::uint64_t is, const char* bound, std::uint64_t expected) {
    return absl::FailedPreconditionError(absl::StrCat(what, ": ", is, "; expected ", bound, " ", expected));
  };
  if (result.done < scenario.done_at_least)
    return missed("messages done", result.done, "at least", scenario.done_at_least);
  if (result.failed > scenario.failed_at_most) {
    return missed("messages failed", result.failed, "at most", scenario.failed_at_most);
  }
  if (result.circuits < scenario.circuits_at_least) {
    return missed("circuits", result.circuits, "at least", scenario.circuits_at_least);
  }
  if (result.silent < scenario.silent_at_least) {
    return missed("verdicts that a cable is silent", result.silent, "at least", scenario.silent_at_least);
  }
  if (result.still < scenario.still_at_least) {
    return missed("verdicts that a node stands still", result.still, "at least", scenario.still_at_least);
  }
  if (result.silent + result.still > scenario.verdicts_at_most) {
    return missed("verdicts", result.silent + result.still, "at most", scenario.verdicts_at_most);
  }
  if (result.cuts < scenario.cuts_at_least) return missed("cuts", result.cuts, "at least", scenario.cuts_at_least);
  if (result.on_draining > scenario.drained_left_within) {
    const auto in_ms = [](Duration time) { return static_cast<std::uint64_t>(time / std::chrono::milliseconds(1)); };
    return missed("ms with a circuit over a cable that drains", in_ms(result.on_draining), "at most",
                  in_ms(scenario.drained_left_within));
  }
  return absl::OkStatus();
}

}  // namespace cableway::sim
