// Messages with a known pattern, sent and received until they are complete.
#ifndef CABLEWAY_TESTS_CONFORMANCE_RANKS_TRAFFIC_H_
#define CABLEWAY_TESTS_CONFORMANCE_RANKS_TRAFFIC_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tests/nccl_adapter/rank.h"

namespace cableway::nccl::test {

inline constexpr std::chrono::seconds kTrafficLimit{30};

// A call's result and its request. Null with success: not ready.
struct Posted {
  abi::Result result = abi::kSuccess;
  void* request = nullptr;
};
Posted post_send(Rank& rank, void* comm, Buffer& buffer);
Posted post_receive(Rank& rank, void* comm, Buffer& buffer);

// Runs one message to its end, or to the first failure. The receiver expects the sender's bytes.
Outcome send_message(Rank& rank, void* comm, std::size_t bytes, std::uint64_t seed);
Outcome receive_message(Rank& rank, void* comm, std::size_t bytes, std::uint64_t seed);
// Drives both requests of one message on one thread. False: one failed, or they took too long.
bool finish_both(Rank& rank, void* sent, void* received);
// Sends and receives on one thread, for a flow from a rank to itself.
bool pass_message(Rank& rank, void* sender, void* receiver, std::size_t bytes, std::uint64_t seed);

// Retries a failing connect for up to 20 s. Null: all attempts failed.
void* connect_when_possible(Rank& rank, const Handle& handle);

// Sends messages until one fails. A success that is not done: none failed within the limit.
Outcome send_until_failure(Rank& rank, void* comm, std::size_t bytes, std::chrono::seconds limit = kTrafficLimit);

}  // namespace cableway::nccl::test

#endif  // CABLEWAY_TESTS_CONFORMANCE_RANKS_TRAFFIC_H_
