// Runs another program to its end.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SYSTEM_PROGRAM_H_
#define CABLEWAY_TOOLS_CABLEWAY_SYSTEM_PROGRAM_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace cableway::cli {

struct ProgramCall {
  std::vector<std::string> words;  // the program, found by PATH, and its arguments; no shell reads them
  std::string input = {};          // its standard input
  std::chrono::milliseconds deadline{30000};
};

struct ProgramEnd {
  int exit_status = 0;  // 128 + N: ended by signal N; 127: could not be started
  bool timed_out = false;
  std::string out;  // standard output, the first 64 KiB
  std::string err;  // standard error, likewise

  bool succeeded() const { return exit_status == 0 && !timed_out; }
};

// Tests use others than run_program().
using ProgramRunner = std::function<ProgramEnd(const ProgramCall&)>;

// Ends the program and its children when the deadline passes.
ProgramEnd run_program(const ProgramCall& call);

// The last line that the program wrote to standard error, else to standard output; safe to print.
std::string last_words(const ProgramEnd& end);

// Why a call failed: "netplan apply failed with exit status 1: <last line of its errors>". Precondition: it did.
std::string failure_text(const ProgramCall& call, const ProgramEnd& end);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SYSTEM_PROGRAM_H_
