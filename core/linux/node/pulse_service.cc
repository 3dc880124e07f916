#include "core/linux/node/pulse_service.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/printable.h"

namespace cableway::host {

absl::StatusOr<std::unique_ptr<PulseService>> PulseService::start(boost::asio::io_context& io, const Settings& settings,
                                                                  const DatagramSeal& seal, Node& node,
                                                                  Listener listener) {
  std::unique_ptr<PulseService> service;
  if (settings.pulse.count() == 0) return service;
  service.reset(new PulseService(node, std::move(listener)));
  const auto on_own_thread = [&io, raw = service.get()](auto act) {
    return [&io, raw, act, life = std::weak_ptr<char>(raw->lifetime_)](const PulsedCable& cable, const auto& about) {
      boost::asio::post(io, [raw, act, life, cable, about] {
        if (!life.expired()) (raw->*act)(cable, about);
      });
    };
  };
  auto thread = PulseThread::start({settings.pulse, settings.pulse_port}, seal,
                                   {on_own_thread(&PulseService::on_verdict), on_own_thread(&PulseService::on_loss),
                                    on_own_thread(&PulseService::on_failed)});
  if (!thread.ok()) return thread.status();
  service->thread_ = *std::move(thread);
  service->update();
  return service;
}

void PulseService::update() {
  std::vector<PulsedCable> now = pulsed_cables(node_);
  if (now == pulsed_) return;
  pulsed_ = now;
  thread_->set_cables(std::move(now));
}

std::vector<UnusedCable> PulseService::unused() const {
  std::vector<UnusedCable> unused;
  for (const auto& [cable, doubted] : verdicts_.doubted()) {
    if (doubted.proving || unused.size() == kMaxUnused) continue;
    unused.push_back({cable, printable(doubted.reason, kMaxPortLostReason), doubted.only_relayed});
  }
  return unused;
}

std::vector<HostProblem> PulseService::problems() const {
  const routing::Topology& topology = node_.paths().topology();
  std::vector<HostProblem> problems;
  for (const auto& [cable, doubted] : verdicts_.doubted()) {
    if (topology.find_plugged(cable) == nullptr) continue;
    problems.push_back({doubted.only_relayed ? EventCode::kRelaySilent : EventCode::kCableSilent,
                        absl::StrCat("cable ", cable, ": ", doubted.reason), cable});
  }
  for (const auto& [cable, text] : verdicts_.lossy()) {
    if (topology.find_plugged(cable) != nullptr) problems.push_back({EventCode::kCableLossy, text, cable});
  }
  return problems;
}

void PulseService::on_failed(const PulsedCable& cable, const std::string& reason) {
  node_.event_sink().raise(EventCode::kPulsesFailed, absl::StrCat(pulse_text(cable), " has no pulses: ", reason),
                           pulse_fields(cable, reason));
}

}  // namespace cableway::host
