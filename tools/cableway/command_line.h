// The `cableway` command: its arguments, and which part answers them.
#ifndef CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
#define CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

namespace cableway::cli {

// Exit statuses. A script can tell "there is no node" from "the node does not answer".
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;     // a file that is no topology, a node that is not in it, a node that refuses
inline constexpr int kNotUsable = 2;  // arguments or CABLEWAY_ settings that make no sense
inline constexpr int kNoNode = 3;     // no node runs here
inline constexpr int kNoAnswer = 4;   // a node runs here and has not answered in time

// What the command learns from outside its arguments.
struct Surroundings {
  const char* const* environment;  // null-terminated array of NAME=VALUE
  std::string host_name;
  std::chrono::milliseconds node_deadline{5000};  // how long to wait for a node
};

// Runs one command and returns its exit status. `arguments` does not hold the program's name. What was asked for goes
// to `out`, everything else to `err`.
int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_COMMAND_LINE_H_
