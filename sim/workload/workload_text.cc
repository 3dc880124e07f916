#include "sim/workload/workload_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/absl_view.h"

namespace cableway::workload {
namespace {

constexpr char kSizeExpected[] = "; expected a whole number of bytes, or one with K, M, G, KiB, MiB, GiB, KB, MB or GB";
constexpr std::array<std::string_view, 9> kOperations = {"all_reduce", "all_gather", "reduce_scatter",
                                                         "broadcast",  "reduce",     "all_to_all",
                                                         "sendrecv",   "pingpong",   "pipeline"};
constexpr char kPairExpected[] = "two ranks as SOURCE-DESTINATION, such as 0-2";

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr Unit kByte = {"B", 1};
// size_text() uses the first of those with the same number of bytes.
constexpr std::array<Unit, 14> kUnits = {{{"GiB", 1ULL << 30},
                                          {"MiB", 1ULL << 20},
                                          {"KiB", 1ULL << 10},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"KB", 1000},
                                          kByte,
                                          {"", 1},
                                          {"G", 1ULL << 30},
                                          {"M", 1ULL << 20},
                                          {"K", 1ULL << 10},
                                          {"g", 1ULL << 30},
                                          {"m", 1ULL << 20},
                                          {"k", 1ULL << 10}}};

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 80;
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(routing::absl_view(text.substr(0, kShown))),
                      text.size() > kShown ? ".." : "", "\"");
}

// A whole number consisting of digits only.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

absl::Status wrong(std::string_view what) {
  return absl::InvalidArgumentError(routing::absl_view(what));
}

absl::Status unknown_operation(std::string_view name) {
  const std::string known =
      absl::StrJoin(kOperations, ", ", [](std::string* out, std::string_view each) { out->append(each); });
  return wrong(absl::StrCat("unknown operation ", in_quotes(name), "; expected one of ", known));
}

absl::Status no_variant(std::string_view operation, std::string_view variant, std::string_view expected) {
  return wrong(absl::StrCat(routing::absl_view(operation), " has no variant ", in_quotes(variant), "; expected ",
                            routing::absl_view(expected)));
}

absl::StatusOr<Workload> parse_pair(Operation operation, std::string_view name, std::string_view variant,
                                    std::string_view expected) {
  const std::size_t dash = variant.find('-');
  const std::optional<std::uint64_t> source = parse_number(variant.substr(0, dash));
  const std::optional<std::uint64_t> destination =
      dash == std::string_view::npos ? std::nullopt : parse_number(variant.substr(dash + 1));
  if (!source || !destination) return no_variant(name, variant, expected);
  const std::uint64_t highest = kMaxRanks - 1;
  if (*source > highest || *destination > highest || *source == *destination) {
    return wrong(
        absl::StrCat(in_quotes(variant), " is not a pair of ranks; expected two different ranks from 0 to ", highest));
  }
  return Workload{
      .operation = operation, .source = static_cast<int>(*source), .destination = static_cast<int>(*destination)};
}

absl::StatusOr<Workload> parse_pipeline(std::string_view variant) {
  const std::optional<std::uint64_t> batches = variant.empty() ? 1 : parse_number(variant);
  if (!batches || *batches < 1 || *batches > kMaxMicroBatches) {
    return no_variant("pipeline", variant, absl::StrCat("how many micro-batches, 1 to ", kMaxMicroBatches));
  }
  return Workload{.operation = Operation::kPipeline, .micro_batches = static_cast<int>(*batches)};
}

absl::StatusOr<Workload> parse_operation(std::string_view name, std::string_view variant) {
  if (name == "all_reduce") {
    if (variant.empty() || variant == "ring") return Workload{Operation::kAllReduceRing};
    if (variant == "tree") return Workload{Operation::kAllReduceTree};
    return no_variant(name, variant, "ring or tree");
  }
  if (name == "sendrecv") {
    if (variant.empty() || variant == "opposite") return Workload{Operation::kOpposite};
    if (variant == "neighbour") return Workload{Operation::kNeighbour};
    return parse_pair(Operation::kPair, name, variant, absl::StrCat("opposite, neighbour, or ", kPairExpected));
  }
  if (name == "pingpong") {
    return parse_pair(Operation::kPingPong, name, variant.empty() ? "0-1" : variant, kPairExpected);
  }
  if (name == "pipeline") return parse_pipeline(variant);

  constexpr std::array<std::pair<std::string_view, Operation>, 6> kOthers = {
      {{"all_gather", Operation::kAllGather},
       {"reduce_scatter", Operation::kReduceScatter},
       {"broadcast", Operation::kBroadcast},
       {"reduce", Operation::kReduce},
       {"all_to_all", Operation::kAllToAll},
       {"alltoall", Operation::kAllToAll}}};
  const auto* const found =
      std::find_if(kOthers.begin(), kOthers.end(), [&](const auto& other) { return other.first == name; });
  if (found == kOthers.end()) return unknown_operation(name);
  if (!variant.empty()) return no_variant(name, variant, absl::StrCat(routing::absl_view(name), ":SIZE alone"));
  return Workload{found->second};
}

absl::StatusOr<WorkloadPattern> parse_parts(std::string_view text) {
  const std::size_t name_end = std::min(text.find_first_of(":,"), text.size());
  const std::size_t comma = text.find(',', name_end);
  const bool has_variant = comma != std::string_view::npos;
  if (has_variant && comma + 1 == text.size()) {
    return wrong("no variant after the comma; expected OPERATION:SIZE,VARIANT, or no comma");
  }
  WorkloadPattern pattern;
  if (text.substr(name_end, 1) == ":") {
    const std::string_view size_part = text.substr(name_end + 1, has_variant ? comma - name_end - 1 : comma);
    const absl::StatusOr<std::uint64_t> size = parse_size(size_part);
    if (!size.ok()) return size.status();
    if (*size == 0) return wrong("the size is 0; expected 1 byte or more");
    pattern.size = *size;
  }
  const absl::StatusOr<Workload> workload =
      parse_operation(text.substr(0, name_end), has_variant ? text.substr(comma + 1) : std::string_view());
  if (!workload.ok()) return workload.status();
  pattern.workload = *workload;
  return pattern;
}

absl::Status in_workload(std::string_view text, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("workload ", in_quotes(text), ": ", routing::absl_view(what)));
}

std::string variant_text(const Workload& workload) {
  switch (workload.operation) {
    case Operation::kAllReduceTree:
      return ",tree";
    case Operation::kNeighbour:
      return ",neighbour";
    case Operation::kPair:
    case Operation::kPingPong:
      return absl::StrCat(",", workload.source, "-", workload.destination);
    case Operation::kPipeline:
      return absl::StrCat(",", workload.micro_batches);
    default:
      return "";
  }
}

}  // namespace

absl::StatusOr<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view name = text.substr(digits);
  const auto* const unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& known) { return known.name == name; });
  if (digits == 0 || unit == kUnits.end()) {
    return wrong(absl::StrCat("the size ", in_quotes(text), " is not understood", kSizeExpected));
  }
  const std::optional<std::uint64_t> number = parse_number(text.substr(0, digits));
  if (!number || *number > kMaxWorkloadBytes / unit->bytes) {
    return wrong(
        absl::StrCat("the size ", in_quotes(text), " is too large; expected at most ", size_text(kMaxWorkloadBytes)));
  }
  return *number * unit->bytes;
}

std::string size_text(std::uint64_t bytes) {
  const Unit* largest = &kByte;
  for (const Unit& unit : kUnits) {
    if (bytes % unit.bytes == 0 && unit.bytes > largest->bytes) largest = &unit;
  }
  return bytes == 0 ? "0B" : absl::StrCat(bytes / largest->bytes, routing::absl_view(largest->name));
}

std::span<const std::string_view> operation_names() {
  return kOperations;
}

absl::StatusOr<WorkloadPattern> parse_pattern(std::string_view text) {
  absl::StatusOr<WorkloadPattern> parsed = parse_parts(text);
  if (parsed.ok()) return parsed;
  return in_workload(text, std::string(parsed.status().message()));
}

absl::StatusOr<SizedWorkload> parse_workload(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    return in_workload(text, "it has no size; expected OPERATION:SIZE, such as all_reduce:1MiB");
  }
  const absl::StatusOr<WorkloadPattern> parsed = parse_pattern(text);
  if (!parsed.ok()) return parsed.status();
  if (!parsed->size.has_value()) {
    return in_workload(text, "the size is not before the comma; expected OPERATION:SIZE,VARIANT");
  }
  return SizedWorkload{parsed->workload, *parsed->size};
}

std::string workload_text(const SizedWorkload& sized) {
  return absl::StrCat(operation_name(sized.workload), ":", size_text(sized.size), variant_text(sized.workload));
}

std::string pattern_text(const Workload& workload) {
  return absl::StrCat(operation_name(workload), variant_text(workload));
}

absl::Status check_ranks(const Workload& workload, int ranks) {
  if (ranks < 2 || ranks > kMaxRanks) {
    return wrong(absl::StrCat("there are ", ranks, " ranks; expected 2 to ", kMaxRanks));
  }
  const int highest = std::max(workload.source, workload.destination);
  if (highest < ranks) return absl::OkStatus();
  return wrong(absl::StrCat(operation_name(workload), " ", workload.source, "-", workload.destination, " names rank ",
                            highest, ", and there are ", ranks, "; expected ranks from 0 to ", ranks - 1));
}

}  // namespace cableway::workload
