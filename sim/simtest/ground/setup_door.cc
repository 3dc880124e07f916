#include "sim/simtest/ground/setup_door.h"

#include <optional>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"

namespace cableway::sim {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{50};  // while the cable does not carry
constexpr std::chrono::microseconds kHandOver{50};    // from the kernel to the polling process

}  // namespace

Challenge Challenges::next() {
  Challenge challenge{};
  std::uint64_t number = ++last_ * 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < challenge.size(); ++i) {
    challenge[i] = static_cast<std::byte>(number >> (8 * (i % 8)));
    if (i == 7) number *= 0xbf58476d1ce4e5b9U;
  }
  return challenge;
}

SetupDoor::SetupDoor(std::size_t node, Clock& clock, SetupTools& tools, RuleBook& rules, Handler handler)
    : node_(node),
      clock_(clock),
      tools_(tools),
      rules_(rules),
      handler_(std::move(handler)),
      arrivals_(
          clock, {}, [this](const std::string& /*peer*/, Arrivals::Opening opening) { opened(std::move(opening)); },
          [this](const IdleRate::From& from, std::size_t per_second) {
            rules_.broken(7, absl::StrCat(per_second, " connections a second from ", from.address,
                                          ", where all nodes are correct, brought no valid set-up"));
          }) {}

void SetupDoor::receive(std::unique_ptr<SetupConnection> connection) {
  if (held_) return waiting_.push_back(std::move(connection));
  const std::string address = connection->own_address();
  arrivals_.take(std::move(connection), address, {address, ""}, tools_.keys_of(node_), tools_.challenges.next());
}

void SetupDoor::opened(Arrivals::Opening opening) {
  const absl::StatusCode code = opening.status().code();
  if (code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kPermissionDenied) {
    rules_.broken(7, absl::StrCat("a set-up of a correct node is refused: ", opening.status().message()));
  }
  if (opening.ok()) handler_(std::move(std::get<ArrivedSetup>(*opening)));
}

void SetupDoor::hold(bool held) {
  held_ = held;
  if (held_) return;
  for (std::unique_ptr<SetupConnection>& connection : std::exchange(waiting_, {})) {
    hop_of(*connection).setup_held_at = clock_.now();
    receive(std::move(connection));
  }
}

// Retries while the cable does not carry, as a kernel does.
class SimConnector::Connecting final : public Attempt {
 public:
  Connecting(SimConnector& from, const Hop& hop, Connected connected)
      : clock_(from.clock_),
        plant_(from.plant_),
        node_(from.node_),
        listener_(from.listener_),
        hop_(hop),
        connected_(std::move(connected)) {
    next_ = clock_.call_after(Duration{0}, [this] { try_now(); });
  }

 private:
  Duration takes() const { return plant_.facts().latency + kHandOver; }

  void try_now() {
    const std::optional<CablePlant::End> from = plant_.find(hop_.from_address);
    const std::optional<CablePlant::End> to = plant_.find(hop_.to_address);
    if (!from.has_value() || !to.has_value()) return finish(absl::UnavailableError("no such address"));
    const bool local = plant_.node_of(*to) == node_;
    if (!local && !plant_.connects(*from, *to)) {
      next_ = clock_.call_after(kRetryAfter, [this] { try_now(); });
      return;
    }
    next_ = clock_.call_after(takes(), [this, local, from, to] { arrive(local, *from, *to); });
  }

  void arrive(bool local, const CablePlant::End& from, const CablePlant::End& to) {
    SetupDoor* const door = listener_(plant_.node_of(to), hop_.to_port);
    if (door == nullptr) return finish(absl::NotFoundError("Connection refused"));
    if (!local && !plant_.connects(from, to)) return try_now();
    PlantHop& hop = local ? plant_.make_local_hop(node_) : plant_.make_hop(from, to);
    const auto wire = std::make_shared<SetupWire>(clock_, hop, takes());
    hop.setup = wire;
    auto [dialer, acceptor] = wire->make_ends(hop_.from_address, hop_.to_address);
    door->receive(std::move(acceptor));
    finish(std::move(dialer));
  }

  void finish(absl::StatusOr<std::unique_ptr<SetupConnection>> result) {
    std::exchange(connected_, nullptr)(std::move(result));
  }

  VirtualClock& clock_;
  CablePlant& plant_;
  const std::size_t node_;
  const Listener listener_;
  const Hop hop_;
  Connected connected_;
  std::unique_ptr<Timer> next_;
};

std::unique_ptr<SetupConnector::Attempt> SimConnector::connect(const Hop& hop, Connected connected) {
  return std::make_unique<Connecting>(*this, hop, std::move(connected));
}

}  // namespace cableway::sim
