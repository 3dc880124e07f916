#include "sim/simtest/simtest_world.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/circuit/transport.h"
#include "sim/simtest/ground/memory_store.h"
#include "sim/simtest/ground/stub_transport.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kStep{10};
constexpr std::uint64_t kMaxEvents = 50'000'000;
constexpr int kStepsPerCheck = 5;
constexpr int kStepsPerReport = 6000;

// Half-way through a change of the key: what nodes of even and of odd numbers accept, the first of both being the one
// that seals.
KeyRing simtest_keys(std::size_t node) {
  const std::string before(64, 'c');
  const std::string after(64, '7');
  return *KeyRing::parse(node % 2 == 0 ? before + "\n" + after : after + "\n" + before);
}

}  // namespace

SimtestWorld::SimtestWorld(const SimtestPlan& plan) : plan_(plan), nodes_(plan.seed), rules_(nodes_.clock()) {
  build_nodes();
  build_switch();
  build_liars();
  CablePlant::Facts facts;
  facts.bytes_per_second = static_cast<double>(plan.bytes_per_second);
  facts.window_bytes = plan.window_bytes;
  CableFabric::Weather weather;
  weather.jitter = plan.port_wait;
  nodes_.fabric().set_weather(weather);
  plant_ = std::make_unique<CablePlant>(nodes_.clock(), nodes_.fabric(), facts);
  transports_ = stub_transports(plan, nodes_.clock(), nodes_.fabric());
  build_hosts();
  build_processes();
  nodes_.observe([this](std::size_t node, const Event& event) {
    trace_.add(node);
    trace_.add(static_cast<std::uint64_t>(event.at.since_start.count()));
    trace_.add(name_of(event.code));
    trace_.add(std::string_view(event.text));
    outsider_rule_->event(node, event);
  });
  node_rules_ = std::make_unique<NodeRules>(*ground_);
  faults_ = std::make_unique<FaultPlayer>(*ground_, *node_rules_, flows_, liars_);
  const auto reaches = [this](std::size_t from, std::size_t to) { return node_rules_->reaches(from, to); };
  for (std::size_t i = 0; i < plan_.flows.size(); ++i) {
    flows_.push_back(std::make_unique<SimtestFlow>(*ground_, plan_.flows[i], i, faults_->calm(), reaches));
  }
  pulse_rules_ = std::make_unique<PulseRules>(*ground_, flows_);
  drain_rule_ = std::make_unique<DrainRule>(*ground_, *node_rules_, flows_);
  stall_rule_ = std::make_unique<StallRule>(*ground_, flows_);
  lie_rule_ = std::make_unique<LieRule>(*ground_, *node_rules_, flows_, liars_);
  outsider_rule_ = std::make_unique<OutsiderRule>(*ground_, *node_rules_, flows_);
}

void SimtestWorld::build_nodes() {
  for (std::size_t node = 0; plan_.sealed && node < plan_.shape.nodes; ++node) {
    seals_.push_back(std::make_unique<KeyedSeal>(simtest_keys(node)));
  }
  for (std::uint32_t node = 0; node < plan_.shape.nodes; ++node) {
    NodeOptions options;
    options.identity.cluster = "simtest";
    options.identity.name = SimtestGround::name(node);
    options.hello.interval = plan_.hello;
    options.hello.hold = plan_.hold;
    options.draining =
        std::find(plan_.shape.draining.begin(), plan_.shape.draining.end(), node) != plan_.shape.draining.end();
    nodes_.add_node(std::move(options));
    if (plan_.sealed) nodes_.use_seal(node, *seals_[node]);
  }
  CableFabric& fabric = nodes_.fabric();
  std::map<std::string, CableFabric::SegmentNumber> first_of_plug;
  for (const CablePlan& cable : plan_.shape.cables) {
    const CableFabric::SegmentNumber segment = fabric.add_cable(cable.a, cable.b);
    if (cable.plug.empty()) continue;
    const auto [twin, is_first] = first_of_plug.try_emplace(cable.plug, segment);
    if (!is_first) fabric.share_wire(twin->second, segment);
    if (!cable.plug_is_reported) continue;
    for (const auto& [node, port] : fabric.ends_of(segment)) {
      fabric.change_port(node, port, [&](PortFacts& facts) { facts.plug = cable.plug; });
    }
  }
}

void SimtestWorld::build_switch() {
  if (plan_.shape.switch_members.empty()) return;
  CableFabric& fabric = nodes_.fabric();
  std::vector<std::pair<CableFabric::NodeNumber, PortId>> ends;
  for (const std::uint32_t node : plan_.shape.switch_members) {
    PortFacts facts;
    facts.interface = "sw0";
    facts.mtu = 1500;
    facts.rate_mbps = facts.link_mbps = 10'000;
    PortPrefix prefix;
    prefix.address.bytes = {172, 16, static_cast<std::uint8_t>(node >> 8), static_cast<std::uint8_t>(node & 255)};
    prefix.prefix_length = 12;
    facts.addresses = {prefix};
    ends.emplace_back(node, fabric.add_port(node, std::move(facts)));
  }
  fabric.join(ends);
}

void SimtestWorld::build_liars() {
  for (const Fault& fault : plan_.faults) {
    if (fault.kind == FaultKind::kLie) liars_.push_back(std::make_unique<Liar>(plan_, fault, nodes_));
  }
}

void SimtestWorld::build_hosts() {
  RelayFacts facts;
  facts.slot_bytes = plan_.slot_bytes;
  facts.leases = plan_.leases;
  for (std::uint32_t node = 0; node < plan_.shape.nodes; ++node) {
    SimtestHost host;
    host.relay = std::make_unique<RelayHost>(nodes_.clock(), facts);
    host.longest_stall = plan_.stalls;
    host.stores.push_back(std::make_unique<MemoryStore>(*host.relay));
    for (const std::unique_ptr<SimTransport>& transport : transports_) {
      std::unique_ptr<SlotStore> store = transport->make_store(node);
      if (store != nullptr) host.stores.push_back(std::move(store));
    }
    hosts_.push_back(std::move(host));
  }
}

void SimtestWorld::build_processes() {
  tools_ = std::make_unique<SetupTools>(SetupTools{negotiate(transports_, *plant_, trace_), {}, {}});
  if (plan_.sealed) tools_->keys = {simtest_keys(0).setup_keys(), simtest_keys(1).setup_keys()};
  const auto stamps = [this](std::size_t node) -> PortStampPage& { return *hosts_[node].stamps; };
  port_shares_.emplace(nodes_.clock(), stamps, kSimtestStriping.most_alternate_bytes + kSimtestStriping.chunk_bytes);
  ground_ = std::make_unique<SimtestGround>(SimtestGround{plan_, nodes_, *plant_, hosts_, *tools_, connectors_,
                                                          processes_, means_, told(), *port_shares_, trace_, rules_,
                                                          [this](const FailedCircuit& circuit) {
                                                            lie_rule_->circuit_failed(circuit);
                                                            outsider_rule_->circuit_failed(circuit);
                                                          }});
  const auto listener = [this](std::size_t node, std::uint16_t port) -> SetupDoor* {
    if (node >= processes_.size()) return nullptr;  // a liar relays nothing
    return port == kApplicationPort ? applications_[node].get() : processes_[node]->door();
  };
  for (std::size_t node = 0; node < plan_.shape.nodes; ++node) {
    connectors_.push_back(std::make_unique<SimConnector>(nodes_.clock(), *plant_, node, listener));
    processes_.push_back(std::make_unique<NodeProcess>(*ground_, node));
    means_.push_back(std::make_unique<ProcessMeans>(*ground_, node));
    applications_.push_back(
        std::make_unique<SetupDoor>(node, nodes_.clock(), *tools_, rules_, [this](ArrivedSetup setup) {
          SimtestFlow& flow = *flows_[setup.setup().flow];
          flow.arrived(std::move(setup));
        }));
  }
  nodes_.observe_topology([this](std::size_t node) {
    processes_[node]->topology_changed();
    for (const std::unique_ptr<SimtestFlow>& flow : flows_) flow->paths_changed(node);
  });
  nodes_.observe_unfit([this](std::size_t node, const PortLost& lost) { processes_[node]->cable_unfit(lost); });
  nodes_.observe_told([this](std::size_t node) { processes_[node]->ports_told(); });
  nodes_.observe_ports([this](std::size_t node) { processes_[node]->ports_changed(); });
}

NodeTells SimtestWorld::told() {
  return {.lost =
              [this](std::size_t node, const PortLost& lost) {
                for (const std::unique_ptr<SimtestFlow>& flow : flows_) flow->lose_port(node, lost);
              },
          .paths_changed =
              [this](std::size_t node) {
                for (const std::unique_ptr<SimtestFlow>& flow : flows_) flow->paths_changed(node);
              },
          .verdict = [this](std::size_t node, const PulsedCable& cable,
                            const CableVerdict& verdict) { pulse_rules_->verdict(node, cable, verdict); }};
}

SimtestResult SimtestWorld::run(const SimtestProgress& progress) {
  stall_rule_->start();
  lie_rule_->start();
  faults_->start();
  pulse_rules_->start();
  for (const std::unique_ptr<SimtestFlow>& flow : flows_) flow->start();
  const bool has_end = plan_.ends > Duration{0};
  const Instant end = has_end ? Instant{plan_.ends} : faults_->calm() + plan_.limit;
  int steps = 0;
  while (rules_.all_hold() && nodes_.clock().now() < end && (has_end || !rests())) {
    nodes_.clock().run_for(kStep);
    tend();
    stall_rule_->check();
    if (++steps % kStepsPerCheck == 0) {
      node_rules_->check();
      pulse_rules_->check();
      drain_rule_->check();
      lie_rule_->check();
      outsider_rule_->check();
    }
    if (progress && steps % kStepsPerReport == 0) progress(result());
    if (has_end || nodes_.clock().calls() <= kMaxEvents) continue;
    rules_.broken(6, "the simulation does not terminate: too many events");
  }
  has_end ? check_memory() : check_at_end();
  port_shares_->check(rules_);
  return result();
}

SimtestResult SimtestWorld::result() {
  SimtestResult result;
  result.trace = trace_.value();
  result.broken = rules_.first();
  result.virtual_time = nodes_.clock().now().since_start;
  result.events = nodes_.clock().calls();
  result.datagrams = nodes_.fabric().datagrams();
  result.chunks = plant_->parcels();
  for (const std::unique_ptr<SimTransport>& transport : transports_) {
    if (transport->kind() == TransportKind::kRdma) result.rdma_hops = transport->hops();
  }
  for (const std::unique_ptr<SimtestFlow>& flow : flows_) {
    const bool has_end = plan_.ends > Duration{0};
    result.done += flow->done();
    result.messages += has_end ? flow->done() : flow->plan().messages.size();
    result.failed += has_end ? 0 : flow->failed();
    result.bytes += flow->bytes_done();
    result.circuits += flow->circuits();
  }
  result.faults = faults_->begun();
  result.cuts = faults_->cuts() + plant_->sprung();
  result.pulses = nodes_.fabric().pulses();
  result.silent = pulse_rules_->silent();
  result.still = pulse_rules_->still();
  result.silences_checked = pulse_rules_->silences_checked();
  result.latest_pulse = pulse_rules_->latest();
  result.least_use = plant_->least_use();
  result.on_draining = drain_rule_->longest();
  result.stalls_checked = stall_rule_->checked();
  result.longest_stall = stall_rule_->longest();
  const PortShares::Sum judged = port_shares_->judged();
  result.ports_judged = judged.ports;
  result.bytes_on_judged = judged.bytes;
  result.alternates_on_judged = judged.alternates;
  return result;
}

void SimtestWorld::tend() {
  for (const std::unique_ptr<NodeProcess>& process : processes_) process->tend();
  for (const std::unique_ptr<SimtestFlow>& flow : flows_) flow->tend();
}

bool SimtestWorld::flows_are_over() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const auto& flow) { return flow->over(); });
}

// Nothing moves, no resources are held, and all nodes agree.
bool SimtestWorld::rests() {
  const Instant now = nodes_.clock().now();
  if (faults_->calm() > now) return false;
  if (!flows_are_over()) return false;
  const bool relays_rest = std::all_of(hosts_.begin(), hosts_.end(), [](const SimtestHost& host) {
    return host.relay->circuits() == 0 && host.leased() == 0;
  });
  const bool setups_rest =
      std::all_of(processes_.begin(), processes_.end(), [](const auto& process) { return process->in_setup() == 0; });
  return relays_rest && setups_rest && node_rules_->agree() && pulse_rules_->rest();
}

void SimtestWorld::check_at_end() {
  if (!rules_.all_hold()) return;
  for (const std::unique_ptr<SimtestFlow>& flow : flows_) {
    if (!flow->over()) rules_.broken(5, "no progress: " + flow->describe_unfinished());
    flow->check_memory();
  }
  for (std::size_t node = 0; node < hosts_.size(); ++node) {
    const RelayHost& relay = *hosts_[node].relay;
    const std::size_t leased = hosts_[node].leased();
    if (relay.circuits() > 0) {
      rules_.broken(
          4, absl::StrCat(SimtestGround::name(node), " still relays ", relay.circuits(), " circuits of ended flows"));
    }
    if (leased > 0) {
      rules_.broken(4, absl::StrCat(SimtestGround::name(node), " has ", leased, " slots leased by no circuit"));
    }
    if (const std::size_t left = processes_[node]->in_setup(); left > 0) {
      rules_.broken(4, absl::StrCat(SimtestGround::name(node), " still has ", left, " set-ups of ended flows"));
    }
  }
  check_memory();
  node_rules_->check();
  node_rules_->check_at_end();
}

void SimtestWorld::check_memory() {
  std::uint64_t changed = plant_->changed_too_early();
  for (const std::unique_ptr<SimTransport>& transport : transports_) changed += transport->changed_too_early();
  if (changed > 0) {
    rules_.broken(1, absl::StrCat(changed, " chunks were changed before their sends had completed"));
  }
  for (const std::unique_ptr<SimTransport>& transport : transports_) {
    if (!transport->misuse().ok()) rules_.broken(7, std::string(transport->misuse().message()));
  }
}

SimtestResult run_simtest(const SimtestPlan& plan, const SimtestProgress& progress) {
  SimtestWorld world(plan);
  return world.run(progress);
}

}  // namespace cableway::sim
