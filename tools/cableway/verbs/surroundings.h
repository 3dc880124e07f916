// The command's inputs other than its arguments.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_SURROUNDINGS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_SURROUNDINGS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <thread>
#include <vector>

#include "core/linux/os/free_memory.h"
#include "core/ports/port_selector.h"
#include "tools/cableway/doctor/facts/host_facts.h"
#include "tools/cableway/system/program.h"

namespace cableway::cli {

struct Surroundings {
  const char* const* environment;  // null-terminated array of NAME=VALUE
  std::string host_name;
  std::chrono::milliseconds node_deadline{5000};  // time limit of a query to the node
  std::function<HostFacts(const std::vector<PortSelector>&)> read_host_facts = [](const auto& selectors) {
    return cli::read_host_facts(selectors, program_folder());
  };
  // Called between two queries of `events --follow`.
  std::function<void()> pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); };
  // Called between two queries of `flows --watch`.
  std::function<void()> watch_pause = [] { std::this_thread::sleep_for(std::chrono::seconds(1)); };
  bool out_is_terminal = false;
  // Whether standard error is a terminal, and after how long progress is shown there.
  bool err_is_terminal = false;
  std::chrono::milliseconds progress_patience{2000};
  // The bytes that a simulation may take.
  std::function<std::uint64_t()> free_memory = [] { return host::free_memory_bytes(); };
  // Of verbs that change hosts.
  ProgramRunner run_program = cli::run_program;
  std::string host_root = "";  // in place of "/"
  std::istream* in = nullptr;  // where questions are answered
  bool in_is_terminal = false;
  std::size_t out_columns = 0;  // of the terminal on standard output; 0: not known
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_SURROUNDINGS_H_
