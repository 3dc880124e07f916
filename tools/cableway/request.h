// What somebody asks of the `cableway` command, and how arguments say it.
#ifndef CABLEWAY_TOOLS_CABLEWAY_REQUEST_H_
#define CABLEWAY_TOOLS_CABLEWAY_REQUEST_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/cableway/sim/sim_options.h"
#include "tools/cableway/views/events_view.h"

namespace cableway::cli {

struct Request {
  enum class View { kTopology, kRoutes, kPath, kStatus, kPorts, kFlows, kEvents, kPlanRanks, kEnv, kDoctor, kSim };
  enum class Format { kText, kJson, kDot, kSvg, kDocker };
  View view = View::kTopology;
  Format format = Format::kText;
  bool follow = false;
  EventFilter events;
  bool no_speed = false;
  std::string config;
  std::string file;
  std::string node;
  std::string from;
  std::string to;
  std::optional<std::uint64_t> flow;
  std::vector<std::string> hosts;
  SimOptions sim;

  bool json() const { return format == Format::kJson; }
};

// The request, or the exit status of a command line that asks for nothing: --help, whose text goes to `out`, or a
// mistake, which goes to `err`.
std::variant<Request, int> parse_request(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_REQUEST_H_
