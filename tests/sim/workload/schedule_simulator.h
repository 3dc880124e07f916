// Executes the schedules of all ranks in memory, in a random order that the rules of schedule.h allow, in the most
// adverse way: a receive overwrites its whole target when it starts; a send's source is read at delivery and compared
// again when the send completes, which may be much later.
#ifndef CABLEWAY_TESTS_SIM_WORKLOAD_SCHEDULE_SIMULATOR_H_
#define CABLEWAY_TESTS_SIM_WORKLOAD_SCHEDULE_SIMULATOR_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sim/workload/schedule.h"

namespace cableway::workload {

class ScheduleSimulator {
 public:
  using Bytes = std::vector<std::uint8_t>;

  ScheduleSimulator(std::vector<Schedule> schedules, std::vector<Bytes> inputs, int in_flight, unsigned seed);

  // Returns "" if every step completed, else what went wrong.
  std::string run();

  const Bytes& output(int rank) const { return ranks_[static_cast<std::size_t>(rank)].memory[1]; }
  std::uint64_t messages() const { return messages_; }

 private:
  // One end of a connection at one rank.
  struct Lane {
    std::size_t rank = 0;
    std::vector<StepIndex> steps;
    std::size_t started = 0;
    std::size_t moved = 0;  // number of delivered messages
    std::size_t completed = 0;
    std::deque<Bytes> sources;  // of the sends in flight, copied at their start
  };

  struct Rank {
    Schedule schedule;
    std::array<Bytes, 3> memory;  // by Region
    std::vector<std::uint32_t> waiting;
    std::vector<std::vector<StepIndex>> dependents;
    std::vector<StepIndex> local;  // not executed yet
    std::size_t completed = 0;
  };

  using ConnectionId = std::tuple<int, int, int>;  // source, destination, channel
  struct Connection {
    Lane send;
    Lane receive;
  };

  bool act(Connection& connection);
  bool start_send(Lane& lane);
  bool start_receive(Lane& lane);
  bool deliver(Connection& connection);
  bool complete_send(Lane& lane);
  bool run_local(Rank& rank);
  bool may_start(const Lane& lane) const;
  void complete(std::size_t rank, StepIndex step);
  std::uint8_t* at(std::size_t rank, Location location, std::uint64_t bytes);
  bool chance() { return random_() % 3 != 0; }

  std::vector<Rank> ranks_;
  std::map<ConnectionId, Connection> connections_;
  std::size_t in_flight_;
  std::mt19937 random_;
  std::string error_;
  std::uint64_t messages_ = 0;
};

}  // namespace cableway::workload

#endif  // CABLEWAY_TESTS_SIM_WORKLOAD_SCHEDULE_SIMULATOR_H_
