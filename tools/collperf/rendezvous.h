// Rendezvous: lets the ranks of a run find each other, exchange small data and detect that a rank has failed.
//
// Rank 0 listens at an address that all ranks have; the others connect to it and stay connected. Measured data does not
// use these connections. Every wait has a deadline, and errors name the ranks concerned.
//
// Owned and used by one thread.
#ifndef CABLEWAY_TOOLS_COLLPERF_RENDEZVOUS_H_
#define CABLEWAY_TOOLS_COLLPERF_RENDEZVOUS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "tools/collperf/frame_socket.h"

namespace cableway::collperf {

struct RendezvousOptions {
  int rank = 0;
  int ranks = 2;
  std::string host;
  std::uint16_t port = 0;
  std::chrono::milliseconds timeout{60000};
  // An object of options that must be the same on all ranks; a rank that differs is rejected, and the error names the
  // option.
  nlohmann::json agreement = nlohmann::json::object();
};

class Rendezvous {
 public:
  // Returns when all ranks have joined.
  static absl::StatusOr<std::unique_ptr<Rendezvous>> join(RendezvousOptions options);

  // Returns the blobs of all ranks, by rank, once all have called it. Also a barrier. Waits as long as the other ranks
  // are connected and not silent: their work has its own deadlines.
  absl::StatusOr<std::vector<std::string>> all_gather(const std::string& blob);

  // Does not wait. Must be called about every second while this rank is busy: it sends keep-alives. Fails when a rank
  // has failed or disconnected; rank 0 forwards the failure to the others.
  absl::Status check_peers();

  // Sends the others the reason why this rank ends. The object must not be used afterwards.
  void abort(const std::string& reason);

 private:
  explicit Rendezvous(RendezvousOptions options) : options_(std::move(options)) {}

  absl::Status join_as_root();
  absl::Status join_as_member();
  absl::Status admit_members(int listener);
  absl::Status admit(FrameSocket socket, const Frame& hello);
  absl::Status await_welcome();
  absl::StatusOr<std::vector<std::string>> gather_as_root(const std::string& blob);
  absl::StatusOr<std::vector<std::string>> gather_as_member(const std::string& blob);
  absl::Status pump_all();
  void send_alive();
  std::vector<int> peer_descriptors() const;
  void notify_members(const std::string& reason, int except_rank);
  std::string address() const;
  std::string missing_members() const;

  RendezvousOptions options_;
  // By rank; only the connected ones: on rank 0 all others, elsewhere rank 0.
  std::vector<std::unique_ptr<FrameSocket>> peers_;
  absl::Status failure_;  // the first failure; sticky
  Clock::time_point next_alive_{};
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_RENDEZVOUS_H_
