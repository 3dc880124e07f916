// NCCL's settings as a process started from here would have them. NCCL takes each variable from the first of these that
// has it (src/misc/param.cc of NCCL 2.23 to 2.30): the environment; the file that NCCL_CONF_FILE names, else
// .nccl.conf in the user's home; /etc/nccl.conf. In a file the first line of a name counts.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_NCCL_SETTINGS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_NCCL_SETTINGS_H_

#include <string>
#include <string_view>
#include <vector>

namespace cableway::cli {

struct NcclPlaces {
  const char* const* environment;  // null-terminated array of NAME=VALUE
  std::string home;                // of the user; "" if there is none
  std::string system_file = "/etc/nccl.conf";

  // The home is $HOME, else the user's of the password file: NCCL uses the first from 2.30 on, the second before.
  static NcclPlaces of_this_process();
};

// All texts are printable ASCII.
struct NcclSetting {
  std::string name;    // "NCCL_NET"
  std::string value;   // in full
  std::string source;  // "environment", "/etc/nccl.conf:3"
  // Other values that it was given, each shortened(), with its source: "IB (/etc/nccl.conf:3)".
  std::vector<std::string> overridden;
};

// A line that does not do what it seems to, or a file that NCCL does not read.
struct NcclFileFault {
  std::string source;  // "/etc/nccl.conf:3", "/etc/nccl.conf"
  std::string what;
  bool about_nccl = true;  // the line mentions a variable of NCCL's, or the fault is of the whole file
};

struct NcclSettings {
  std::vector<NcclSetting> settings;  // of variables that begin with NCCL_, by name
  std::vector<std::string> files;     // those that NCCL looks for, in its order; each may be missing
  std::vector<NcclFileFault> faults;

  // nullptr: not set.
  const NcclSetting* find(std::string_view name) const;
};

// A name or value for display: at most its first 200 characters.
std::string shortened(const std::string& text);

// Reads at most 64 KiB of each file.
NcclSettings read_nccl_settings(const NcclPlaces& places);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_NCCL_SETTINGS_H_
