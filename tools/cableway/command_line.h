// The `cableway` command: its arguments, and what it says.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <thread>
#include <vector>

#include "core/discovery/port_selector.h"
#include "tools/cableway/doctor/host_facts.h"

namespace cableway::cli {

// Exit statuses. A script can tell "there is no node" from "the node does not answer".
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;     // a file that is no topology, a node that is not in it, a node that refuses
inline constexpr int kNotUsable = 2;  // arguments or CABLEWAY_ settings that make no sense
inline constexpr int kNoNode = 3;     // no node runs here
inline constexpr int kNoAnswer = 4;   // a node runs here and has not answered in time
inline constexpr int kJobEnded = 5;   // of sim: a cable that was cut has ended the job
// Of doctor.
inline constexpr int kWarnings = 1;
inline constexpr int kErrors = 2;

// What the command learns from outside its arguments.
struct Surroundings {
  const char* const* environment;  // null-terminated array of NAME=VALUE
  std::string host_name;
  std::chrono::milliseconds node_deadline{5000};  // how long to wait for a node
  std::function<HostFacts(const std::vector<PortSelector>&)> look_at_host = [](const auto& selectors) {
    return cli::look_at_host(selectors, program_folder());
  };
  // Between two looks at a node that is followed.
  std::function<void()> pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); };
  // Whether somebody looks at what goes to `err`, and after how long they are told how far something is.
  bool err_is_terminal = false;
  std::chrono::milliseconds progress_patience{2000};
};

// Runs one command and returns its exit status. `arguments` does not hold the program's name. What was asked for goes
// to `out`, everything else to `err`.
int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
