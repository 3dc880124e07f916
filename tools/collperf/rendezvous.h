// Rendezvous: how the ranks of a run find each other, exchange small data and learn that one of them has failed.
//
// Rank 0 listens at an address that all ranks know; the others connect to it and stay connected. The data that is
// measured never goes this way. Every wait has a deadline, and an error names the ranks that it is about.
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
  // An object of options that must be the same on all ranks; a rank that differs is refused by the option's name.
  nlohmann::json agreement = nlohmann::json::object();
};

class Rendezvous {
 public:
  // Returns when all ranks are there.
  static absl::StatusOr<std::unique_ptr<Rendezvous>> join(RendezvousOptions options);

  // Everybody's blob, by rank, once everybody has called it. Also a barrier. It waits as long as the others are there
  // and not silent: what they are busy with has deadlines of its own.
  absl::StatusOr<std::vector<std::string>> all_gather(const std::string& blob);

  // Does not wait, and must be called every second or so while this rank is busy: it shows that the rank lives. An
  // error when a rank has failed or gone; rank 0 passes such news on to the others.
  absl::Status check_peers();

  // Tells the others why this rank gives up. The object is of no further use.
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
  void tell_members(const std::string& reason, int except_rank);
  std::string address() const;
  std::string missing_members() const;

  RendezvousOptions options_;
  // By rank, as far as this rank talks to them: rank 0 to all others, the others to rank 0.
  std::vector<std::unique_ptr<FrameSocket>> peers_;
  absl::Status failure_;  // the first loss, which stays
  Clock::time_point next_alive_{};
};

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_RENDEZVOUS_H_
