// cableway: shows the state of a Cableway node.
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "core/linux/files/settings_reader.h"
#include "tools/cableway/command_line.h"

namespace {

// Of the terminal on standard output; 0: there is none, or it does not tell.
std::size_t out_columns() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that closes the pipe (cableway status | head -1) is a stream error, which run() reports.
  ::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return cableway::cli::run(arguments,
                            {.environment = environ,
                             .host_name = cableway::host::host_name(),
                             .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
                             .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
                             .in = &std::cin,
                             .in_is_terminal = ::isatty(STDIN_FILENO) == 1,
                             .out_columns = out_columns()},
                            std::cout, std::cerr);
}
