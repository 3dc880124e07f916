#include "tools/collperf/launch/host_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"
#include "routing/text/ssh_host.h"

namespace cableway::collperf {
namespace {

using routing::in_quotes;

constexpr char kHostsExpected[] = "; expected hosts as h0,h1:SLOTS";
constexpr char kSlurmExpected[] = "; expected a list as node[01-03,7]";

absl::Status host_fault(const std::string& what, const char* expected) {
  return absl::InvalidArgumentError(absl::StrCat(what, expected));
}

absl::Status check_host(std::string_view host, const char* expected) {
  if (routing::is_ssh_host(host)) return absl::OkStatus();
  return host_fault(absl::StrCat(in_quotes(host), " is not a host"), expected);
}

absl::StatusOr<int> parse_slots(std::string_view text) {
  int slots = 0;
  if (!text.empty() && std::ranges::all_of(text, absl::ascii_isdigit) &&
      absl::SimpleAtoi(routing::absl_view(text), &slots) && slots >= 1 && slots <= kMaxSlots) {
    return slots;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(in_quotes(text), " is not a number of ranks; expected 1 to ", kMaxSlots));
}

// "h0", "h0:2", "[fe80::1]", "[fe80::1]:2", "fe80::1": more than one colon without brackets is an address.
absl::StatusOr<HostSlots> parse_one(std::string_view text) {
  std::string_view host = text;
  std::string_view slots;
  bool has_slots = false;
  // A user may come before the bracket.
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  std::string bare;
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':')
      return host_fault(absl::StrCat(in_quotes(text), " is not a host"), kHostsExpected);
    bare = absl::StrCat(routing::absl_view(text.substr(0, open)),
                        routing::absl_view(text.substr(open + 1, close - open - 1)));
    host = bare;
    has_slots = !rest.empty();
    slots = has_slots ? rest.substr(1) : rest;
  } else if (std::ranges::count(text, ':') == 1) {
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    has_slots = true;
    slots = text.substr(colon + 1);
  }
  if (absl::Status status = check_host(host, kHostsExpected); !status.ok()) return status;
  HostSlots parsed{std::string(host), 0};
  if (!has_slots) return parsed;
  const absl::StatusOr<int> number = parse_slots(slots);
  if (!number.ok()) return number.status();
  parsed.slots = *number;
  return parsed;
}

absl::Status add_host(HostSlots host, std::vector<HostSlots>& hosts, std::set<std::string>& seen) {
  if (!seen.insert(host.host).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("host ", in_quotes(host.host), " is listed twice; expected it once, as ", host.host, ":SLOTS"));
  }
  if (hosts.size() == kMaxHosts) {
    return absl::InvalidArgumentError(absl::StrCat("there are too many hosts; expected at most ", kMaxHosts));
  }
  hosts.push_back(std::move(host));
  return absl::OkStatus();
}

absl::Status check_length(std::string_view text) {
  if (text.size() <= kMaxHostListBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the list has ", text.size(), " bytes; expected at most ", kMaxHostListBytes));
}

absl::StatusOr<HostSlots> parse_host_line(const std::string& line) {
  const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  absl::StatusOr<HostSlots> host = parse_one(words.front());
  if (!host.ok() || words.size() == 1) return host;
  std::string_view slots = words[1];
  constexpr std::string_view kSlots = "slots=";
  if (words.size() > 2 || !slots.starts_with(kSlots) || host->slots != 0) {
    return host_fault(absl::StrCat(in_quotes(line), " is not a line of a host file"),
                      "; expected HOST or HOST slots=N");
  }
  slots.remove_prefix(kSlots.size());
  const absl::StatusOr<int> number = parse_slots(slots);
  if (!number.ok()) return number.status();
  host->slots = *number;
  return host;
}

}  // namespace

absl::StatusOr<std::vector<HostSlots>> parse_hosts(std::string_view text) {
  if (absl::Status status = check_length(text); !status.ok()) return status;
  std::vector<HostSlots> hosts;
  std::set<std::string> seen;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(routing::absl_view(text), ','))) {
    absl::StatusOr<HostSlots> host = parse_one(part);
    if (!host.ok()) return host.status();
    if (absl::Status status = add_host(*std::move(host), hosts, seen); !status.ok()) return status;
  }
  return hosts;
}

absl::StatusOr<std::vector<HostSlots>> parse_host_file(std::string_view text) {
  if (absl::Status status = check_length(text); !status.ok()) return status;
  std::vector<HostSlots> hosts;
  std::set<std::string> seen;
  int number = 0;
  for (const std::string& whole : std::vector<std::string>(absl::StrSplit(routing::absl_view(text), '\n'))) {
    ++number;
    const std::string line(absl::StripAsciiWhitespace(whole.substr(0, whole.find('#'))));
    if (line.empty()) continue;
    absl::StatusOr<HostSlots> host = parse_host_line(line);
    absl::Status status = host.ok() ? add_host(*std::move(host), hosts, seen) : host.status();
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", status.message()));
  }
  if (hosts.empty()) return absl::InvalidArgumentError("the file has no host; expected one host a line");
  return hosts;
}

absl::StatusOr<std::string> first_slurm_host(std::string_view list) {
  if (absl::Status status = check_length(list); !status.ok()) return status;
  std::string host;
  std::size_t place = 0;
  while (place < list.size() && list[place] != ',') {
    if (list[place] != '[') {
      host.push_back(list[place++]);
      continue;
    }
    const std::size_t close = list.find(']', place);
    const std::string_view range = list.substr(place + 1, close == std::string_view::npos ? 0 : close - place - 1);
    const std::string_view first = range.substr(0, range.find_first_of(",-"));
    if (first.empty() || !std::ranges::all_of(first, absl::ascii_isdigit)) {
      return host_fault(absl::StrCat(in_quotes(list), " has a range without a number"), kSlurmExpected);
    }
    host.append(first);
    place = close + 1;
  }
  if (absl::Status status = check_host(host, kSlurmExpected); !status.ok()) return status;
  return host;
}

std::string address_of(const std::string& host) {
  return host.substr(host.find('@') + 1);
}

}  // namespace cableway::collperf
