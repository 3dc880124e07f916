#include "tests/nccl_adapter/lockstep.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace cableway::nccl::test {
namespace {

// The outcome of a step, as exchanged by the machines: one of these, then the result or the error's text.
constexpr char kReturned = 'r';
constexpr char kThrew = 't';
// A machine is silent while it executes a step. Steps of tests end within 60 s.
constexpr std::chrono::seconds kMaxSilence{120};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string("WORLD_RENDEZVOUS is set and ") + name + " is not");
  return value;
}

std::string outcome_of(const std::function<std::string()>& act) {
  try {
    return kReturned + act();
  } catch (const std::exception& error) {
    return kThrew + std::string(error.what());
  }
}

std::string open(const std::string& outcome) {
  if (outcome.front() == kThrew) throw std::runtime_error(outcome.substr(1));
  return outcome.substr(1);
}

}  // namespace

Lockstep& Lockstep::instance() try {
  static Lockstep& lockstep = *new Lockstep;
  return lockstep;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lockstep: %s\n", error.what());
  std::abort();  // no test can continue
}

Lockstep::Lockstep() {
  const char* place = std::getenv("WORLD_RENDEZVOUS");
  if (place == nullptr) return;
  const std::string address = place;
  std::istringstream names(variable("LAB_NODES"));
  for (std::string name; names >> name;) machines_.push_back(name);
  self_ = std::stoul(variable("LAB_NODE_INDEX"));
  const std::size_t colon = address.rfind(':');
  auto joined = collperf::Rendezvous::join({.rank = static_cast<int>(self_),
                                            .ranks = static_cast<int>(machines_.size()),
                                            .host = address.substr(0, colon),
                                            .port = static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))),
                                            .timeout = kMaxSilence});
  if (!joined.ok()) throw std::runtime_error(joined.status().ToString());
  rendezvous_ = *std::move(joined);
}

std::size_t Lockstep::place_of(const std::string& node) const {
  const auto place = static_cast<std::size_t>(node.front() - 'a');
  if (node.size() != 1 || place >= machines_.size()) throw std::runtime_error("no machine for node " + node);
  return place;
}

bool Lockstep::is_here(const std::string& node) const {
  return !on_several_machines() || place_of(node) == self_;
}

std::string Lockstep::machine_of(const std::string& node) const {
  return on_several_machines() ? machines_[place_of(node)] : "";
}

std::string Lockstep::ask(const std::string& node, const std::function<std::string()>& act) {
  if (!on_several_machines()) return act();
  const std::string name = std::to_string(++steps_) + " " + node + "\n";
  const auto gathered = rendezvous_->all_gather(name + (is_here(node) ? outcome_of(act) : ""));
  if (!gathered.ok()) throw std::runtime_error("lockstep: " + std::string(gathered.status().message()));
  for (std::size_t place = 0; place < machines_.size(); ++place) {
    if ((*gathered)[place].starts_with(name)) continue;
    throw std::runtime_error("lockstep: " + machines_[place] + " is at step " + (*gathered)[place] + ", and " +
                             machines_[self_] + " at " + name);
  }
  return open((*gathered)[place_of(node)].substr(name.size()));
}

void Lockstep::step(const std::string& node, const std::function<void()>& act) {
  ask(node, [&act] {
    act();
    return std::string();
  });
}

}  // namespace cableway::nccl::test
