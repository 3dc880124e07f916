// Real nodes over a fabric in memory, each with what core/linux/node gives it for views: the listener, the relayed
// set-ups, the answers, and the requests of its processes. All of these are the product's own code.
#ifndef CABLEWAY_TESTS_CORE_CLUSTER_VIEW_VIEW_WORLD_H_
#define CABLEWAY_TESTS_CORE_CLUSTER_VIEW_VIEW_WORLD_H_

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/arrivals/arrivals.h"
#include "core/circuit/transit_setups.h"
#include "core/cluster_view/cluster_views.h"
#include "core/cluster_view/view_answers.h"
#include "core/cluster_view/view_paths.h"
#include "core/session/session_message.h"
#include "core/view/shown_view.h"
#include "sim/nodes/node_world.h"
#include "tests/core/circuit/played_connector.h"
#include "tests/core/cluster_view/memory_wire.h"

namespace cableway::test {

// How a node treats what arrives at its relay port.
enum class Manner {
  kProper,
  kAbsent,           // nothing listens there
  kStopped,          // its kernel accepts the connection; then nothing
  kEarlier,          // refuses the purpose, as an earlier version does
  kGarbage,          // answers with bytes that are no document
  kLargest,          // has a view that is as large as a document may be
  kLarge,            // has a view that is larger than a document may be
  kNoAnswerInWords,  // refuses with words that others have for silence and for their version
  // Refuses without a word, with each scope.
  kNoReasonCircuit,
  kNoReasonFlow,
  kNoReasonBusy,
};

class ViewWorld {
 public:
  using Cables = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  ViewWorld(std::size_t nodes, const Cables& cables, std::optional<SubKey> key = std::nullopt)
      : key_(std::move(key)), world_(7) {
    world_.build(nodes, cables);
    world_.start_all();
    for (std::size_t i = 0; i < nodes; ++i) places_.push_back(std::make_unique<Place>(*this, i));
    EXPECT_TRUE(world_.settle(std::chrono::seconds(30), [&] {
      for (std::size_t i = 0; i < nodes; ++i) {
        if (world_.node(i).paths().topology().cables().size() != cables.size()) return false;
      }
      return true;
    }));
    world_.clock().run_for(std::chrono::seconds(1));  // the relays' ports are announced
  }

  sim::NodeWorld& nodes() { return world_; }
  void treat(std::size_t node, Manner manner) { places_[node]->manner = manner; }
  void use_key(std::size_t node, std::optional<SubKey> key) { places_[node]->use_key(std::move(key)); }
  // What the node's processes report of their flows.
  void report_flows(std::size_t node, FlowsStatus flows) { places_[node]->flows = std::move(flows); }
  std::size_t made(std::size_t node) const { return places_[node]->made; }
  // Processor time of making the node's last view.
  std::chrono::duration<double> making_took(std::size_t node) const { return places_[node]->making_took; }
  ClusterViews& views(std::size_t node) { return places_[node]->views; }
  TransitSetups& transit(std::size_t node) { return places_[node]->transit; }

  // All answers, as a process on that node gets them, and how long that took on the nodes' clocks.
  struct Round {
    std::string error;
    std::vector<NodeAnswer> answers;
    std::map<std::string, Duration> came;  // by node
    Duration took{0};
    std::size_t parts = 0;
    const NodeAnswer& of(const std::string& node) const {
      static const NodeAnswer kNone;
      for (const NodeAnswer& each : answers) {
        if (each.node == node) return each;
      }
      return kNone;
    }
  };
  Round ask(std::size_t node, const std::string& view) {
    Round round;
    bool done = false;
    const Instant begin = world_.clock().now();
    std::function<void(ClusterViewReply)> have = [&](const ClusterViewReply& sent) {
      ClusterViewReply reply = through_session(sent);
      ++round.parts;
      round.error = reply.error;
      for (NodeAnswer& each : reply.answers) {
        round.came[each.node] = world_.clock().now() - begin;
        round.answers.push_back(std::move(each));
      }
      done = reply.done;
      if (!done) views(node).request({}, {reply.round, ""}, have);
    };
    views(node).request({}, {0, view}, have);
    EXPECT_TRUE(world_.clock().run_until_true([&] { return done; }, std::chrono::seconds(30)));
    round.took = world_.clock().now() - begin;
    return round;
  }

 private:
  struct Place;

  // As a process gets it.
  static ClusterViewReply through_session(const ClusterViewReply& reply) {
    const std::vector<std::byte> framed = encode_session_message(reply);
    auto decoded = decode_session_message(std::span(framed).subspan(4));
    EXPECT_TRUE(decoded.ok()) << decoded.status();
    return decoded.ok() ? std::get<ClusterViewReply>(*std::move(decoded)) : ClusterViewReply();
  }

  class Connector final : public SetupConnector {
   public:
    explicit Connector(ViewWorld& world) : world_(world) {}
    [[nodiscard]] std::unique_ptr<Attempt> connect(const Hop& hop, Connected connected) override {
      auto state = std::make_shared<Connected>(std::move(connected));
      world_.world_.clock().post_at(world_.world_.clock().now() + kHop, [this, hop, state] {
        if (*state) world_.connect(hop, *state);
      });
      return std::make_unique<Pending>(state);
    }

   private:
    struct Pending final : Attempt {
      explicit Pending(std::shared_ptr<Connected> of) : state(std::move(of)) {}
      ~Pending() override { *state = nullptr; }
      const std::shared_ptr<Connected> state;
    };
    ViewWorld& world_;
  };

  struct Place final : private TransitSetups::Host {
    Place(ViewWorld& in, std::size_t number)
        : world(in),
          node(in.world_.node(number)),
          key(in.key_),
          connector(in),
          transports({}, [] { return std::make_unique<PlayedConnectionEnd>(); }),
          means{in.world_.clock(), connector, transports, [] { return Challenge{}; }},
          transit(means, *this, node.event_sink(), node.identity().name),
          arrivals(
              in.world_.clock(), {},
              [this](const std::string&, Arrivals::Opening opening) {
                if (opening.ok()) opened(std::get<ArrivedSetup>(*std::move(opening)));
              },
              [](const IdleRate::From&, std::size_t) {}),
          answers(in.world_.clock(),
                  {node.identity().name, [this](const SetupConnection& from) { return neighbour_at(from); },
                   [this] { return neighbours(); }, [this](const std::string& view) { return make(view); }}),
          views({{means, node.identity().name, [this] { return key; },
                  [this](const std::string& other, std::size_t most) { return view_paths(node.paths(), other, most); }},
                 [this] { return nodes_to_view(node.paths()); },
                 [this](const std::string& view) { return answers.document(view); }}) {
      transit.seal_with(key);
      node.tell_ports({});
    }

    void use_key(std::optional<SubKey> other) {
      key = std::move(other);
      transit.seal_with(key);
    }
    void opened(ArrivedSetup setup) {
      if (manner == Manner::kEarlier) {
        return std::move(setup).refuse(
            with_cause(absl::UnimplementedError("set-up: unknown purpose 2"), RefusalCause::kUnknownPurpose),
            FailureScope::kCircuit);
      }
      if (manner == Manner::kNoAnswerInWords) {
        return std::move(setup).refuse(
            absl::UnavailableError("no answer to the set-up: unknown purpose, answers no views"),
            FailureScope::kCircuit);
      }
      if (manner >= Manner::kNoReasonCircuit && manner <= Manner::kNoReasonBusy) {
        const int scope = static_cast<int>(manner) - static_cast<int>(Manner::kNoReasonCircuit);
        return std::move(setup).refuse(absl::UnavailableError(""), static_cast<FailureScope>(scope));
      }
      const bool is_own = setup.setup().purpose == SetupPurpose::kView && setup.setup().last_hop();
      is_own ? answers.arrived(std::move(setup)) : transit.arrived(std::move(setup));
    }
    absl::StatusOr<std::string> make(const std::string& view) {
      ++made;
      if (manner == Manner::kGarbage) return std::string("\x1b[2J{\"node\": [[[");
      if (manner == Manner::kLargest) return std::string(kMaxDocumentBytes, ' ');
      if (manner == Manner::kLarge) return std::string(kMaxDocumentBytes + 1, ' ');
      const ViewSources sources{.node = node,
                                .transport = TransportSetting::kAuto,
                                .topology = [this]() -> const routing::Topology& { return node.paths().topology(); },
                                .relay = [] { return RelayStatus(); },
                                .flows = [this] { return flows; },
                                .relay_counts = [] { return RelayStatus(); },
                                .flow_counts = [] { return FlowsStatus(); },
                                .sessions = [] { return std::size_t{1}; },
                                .problems = [] { return std::vector<HostProblem>(); },
                                .keys = [] { return std::vector<std::string>(); },
                                .rejected = [] { return std::vector<RejectedPort>(); },
                                .control = [] { return ControlCounters(); },
                                .run = {.version = "1.0"}};
      const std::clock_t begin = std::clock();
      absl::StatusOr<std::string> document = shown_view(view, sources);
      making_took = std::chrono::duration<double>(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      return document;
    }

    absl::Status check_transit(const CircuitSetup& setup) override { return node.check_transit(setup); }
    ShareHolder neighbour_at(const SetupConnection& connection) const override {
      return node.neighbour_at(connection.own_address(), connection.other_address());
    }
    std::set<ShareHolder> neighbours() const override { return node.share_holders(); }
    std::size_t circuits() const override { return 0; }
    std::size_t max_circuits() const override { return 0; }  // views need no room for circuits
    absl::Status no_room(std::size_t) const override { return absl::ResourceExhaustedError("full"); }
    absl::StatusOr<std::unique_ptr<Slot>> make_floor(const TransportEnd&, const TransportEnd&) override {
      return absl::InternalError("no circuit is to be made");
    }
    absl::Status relay(const CircuitSetup&, OpenHop, OpenHop, std::unique_ptr<Slot>) override {
      return absl::InternalError("no circuit is to be made");
    }
    void refused(const CircuitSetup&, const absl::Status&) override {}
    void lost(const CircuitSetup&, const absl::Status&) override {}

    ViewWorld& world;
    Node& node;
    std::optional<SubKey> key;
    Manner manner = Manner::kProper;
    FlowsStatus flows;
    std::size_t made = 0;
    std::chrono::duration<double> making_took{0};
    Connector connector;
    const TransportNegotiator transports;
    const HopDial::Means means;
    TransitSetups transit;
    Arrivals arrivals;
    ViewAnswers answers;
    ClusterViews views;
    std::vector<std::unique_ptr<SetupConnection>> unanswered;
  };

  void connect(const Hop& hop, const SetupConnector::Connected& connected) {
    Place* at = nullptr;
    for (const auto& place : places_) {
      if (place->node.identity().name == hop.to_node) at = place.get();
    }
    if (at == nullptr || at->manner == Manner::kAbsent) return connected(absl::NotFoundError("Connection refused"));
    auto [dialer, acceptor] =
        std::make_shared<MemoryWire>(world_.clock(), kHop)->make_ends(hop.from_address, hop.to_address);
    if (at->manner == Manner::kStopped) {
      at->unanswered.push_back(std::move(acceptor));
    } else {
      const SetupKeys keys = at->key ? SetupKeys(*at->key) : SetupKeys();
      const ShareHolder party = at->node.neighbour_at(hop.to_address, hop.from_address);
      at->arrivals.take(std::move(acceptor), hop.to_address, party, keys, Challenge{});
    }
    connected(std::move(dialer));
  }

  static constexpr Duration kHop = std::chrono::microseconds(30);

  const std::optional<SubKey> key_;
  sim::NodeWorld world_;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_CLUSTER_VIEW_VIEW_WORLD_H_
