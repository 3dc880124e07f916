// This process's membership of its host's node: joins the node, starting one if none is running, rejoins it after it
// has restarted, requests paths, and reports flows.
#ifndef CABLEWAY_NCCL_ADAPTER_PROCESS_NODE_MEMBERSHIP_H_
#define CABLEWAY_NCCL_ADAPTER_PROCESS_NODE_MEMBERSHIP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/flow_circuits/flow_paths.h"
#include "core/linux/session/session_client.h"
#include "core/ports/port_lost.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/process/control_thread.h"
#include "nccl_adapter/process/flow_reports.h"

namespace cableway::nccl {

class NodeMembership {
 public:
  // Called on the control thread.
  struct Listener {
    // Called with each accepted Welcome: the first, those after the node's ports or keys have changed, and those of a
    // restarted node.
    std::function<void(const Welcome&)> welcomed;
    // Called before a node's first Welcome, with the node's page of port stamps.
    std::function<void(host::UniqueFd)> have_port_stamps;
    // A port of the node has stopped carrying data.
    std::function<void(const PortLost&)> port_lost;
    // The best paths of flows may have changed.
    std::function<void()> paths_changed;
    // The session to the node has ended, so that its judgements of cables no longer hold.
    std::function<void()> left;
  };
  using HavePaths = std::function<void(absl::StatusOr<PathOffers>)>;

  // The arguments must outlive this object, and this object the control thread's last work.
  NodeMembership(ControlThread& control, const Settings& settings, const Log& log, Listener listener);

  // Blocks, so it is not for the control thread. `daemon`: the program to start if no node is running. Returns the
  // node's first Welcome, without its keys. The status names the remedy for the operator.
  absl::StatusOr<Welcome> join(const std::string& daemon);

  // For the control thread only, after join():
  // The number of the next flow to this node, counted in this process.
  std::uint64_t next_ordinal(const std::string& destination) { return flows_to_[destination]++; }
  // Finds up to `most` paths to a node for the flow with this number, each with at least one hop, best first. `done`
  // is called once, within 15 s. `for_inquiry` as in PathRequest.
  void request_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most, bool for_inquiry,
                     HavePaths done);
  // Joins a restarted node. NotFound, Unavailable: none is running yet.
  absl::Status rejoin_if_ended();
  FlowReports& reports() { return reports_; }
  // The process accepts circuits at this TCP port; the node and its later incarnations are told.
  void listens_at(std::uint16_t port);
  // Fails every unanswered request. May be called before join() has succeeded.
  void close();

 private:
  absl::StatusOr<Welcome> try_to_join(const std::string& daemon);
  absl::Status connect();
  absl::StatusOr<Welcome> greet();
  absl::StatusOr<Welcome> greeted(const absl::StatusOr<SessionMessage>& reply);
  // FailedPrecondition: the node has no key, although this process's settings name one.
  absl::Status take(const Welcome& welcome);
  void take_update(const Welcome& welcome);
  void tell_listener();

  ControlThread& control_;
  const Settings& settings_;
  const Log& log_;
  const Listener listener_;
  // The following members belong to the control thread until it has ended.
  std::shared_ptr<host::SessionClient> session_;
  FlowReports reports_;
  std::string node_;                               // as in the last Welcome
  std::uint16_t listens_at_ = 0;                   // 0: nowhere yet
  std::map<std::string, std::uint64_t> flows_to_;  // number of flows opened, by destination
  bool missing_key_logged_ = false;
  bool end_reported_ = false;
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PROCESS_NODE_MEMBERSHIP_H_
