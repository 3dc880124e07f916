#include "tools/cableway/text/prose.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "routing/text/absl_view.h"
#include "tools/cableway/text/paint.h"

namespace cableway::cli {
namespace {

// The programs that advice names. A text that says more about one of them than its command wraps less tightly.
constexpr std::array<std::string_view, 26> kPrograms = {
    "apt",     "apt-get", "cableway", "cablewayd", "chmod",     "chown",   "devlink", "dmesg",     "docker",
    "echo",    "ethtool", "eval",     "export",    "groupadd",  "ip",      "lspci",   "mlxconfig", "modprobe",
    "openssl", "rdma",    "sudo",     "sysctl",    "systemctl", "udevadm", "ulimit",  "usermod"};
// Words that no command has, but the sentence around it.
constexpr std::array<std::string_view, 16> kAfterCommands = {
    "and",   "as",     "at",   "for",   "here",  "in",     "on", "or",
    "shows", "prints", "says", "says:", "there", "there:", "to", "with"};

template <typename Words>
bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool begins_command(std::string_view word) {
  const std::size_t begin = word.find_first_not_of("(\"");
  return begin != std::string_view::npos && has(kPrograms, word.substr(begin));
}

bool ends_sentence(std::string_view word) {
  return !word.empty() && std::string_view(",;:).").find(word.back()) != std::string_view::npos;
}

// "s" after "0.1"
bool is_unit(std::string_view word, std::string_view number) {
  constexpr std::array<std::string_view, 8> kUnits = {"s", "ms", "us", "min", "%", "bytes", "Gbit/s", "Mbit/s"};
  const bool has_number = !number.empty() && absl::ascii_isdigit(static_cast<unsigned char>(number.back()));
  return has_number && has(kUnits, word.substr(0, word.find_first_of(",;:)")));
}

// The words of a line; a command counts as one, and a number with its unit.
std::vector<std::string> units_of(std::string_view line) {
  std::vector<std::string> units;
  bool in_command = false;
  for (const absl::string_view each : absl::StrSplit(routing::absl_view(line), ' ')) {
    const std::string_view word(each.data(), each.size());
    in_command = in_command && !has(kAfterCommands, word);
    if (in_command || (!units.empty() && is_unit(word, units.back()))) {
      units.back().append(" ").append(word);
    } else {
      units.emplace_back(word);
    }
    in_command = (in_command || begins_command(word)) && !ends_sentence(word);
  }
  return units;
}

}  // namespace

std::size_t prose_columns(std::size_t terminal) {
  return terminal == 0 ? kProseColumns : std::clamp(terminal, kLeastProseColumns, kProseColumns);
}

std::string prose_lines(std::string_view lead, std::string_view text, std::size_t columns) {
  const std::size_t indent = shown_width(lead);
  std::string lines;
  std::string line(lead);
  const auto end_line = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    lines.append(line).append("\n");
    line.assign(indent, ' ');
  };
  for (const absl::string_view given : absl::StrSplit(routing::absl_view(text), '\n')) {
    bool is_first = true;
    for (const std::string& unit : units_of({given.data(), given.size()})) {
      if (!is_first && shown_width(line) + 1 + shown_width(unit) > columns) {
        end_line();
        is_first = true;
      }
      line.append(is_first ? "" : " ").append(unit);
      is_first = false;
    }
    end_line();
  }
  return lines;
}

}  // namespace cableway::cli
