#include "tools/cableway/sim/fail_spec.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_quantity.h"

namespace cableway::cli {
namespace {

constexpr char kFailExpected[] = "expected cable:NAME@TIME or cable:A-B@TIME, such as cable:c3@10ms or cable:0-1@0.5s";
constexpr std::string_view kFailKind = "cable:";

absl::Status bad_fail(std::string_view text, const std::string& wrong) {
  return absl::InvalidArgumentError(
      absl::StrCat("--fail ", routing::in_quotes(text), ": ", wrong, "; ", kFailExpected));
}

}  // namespace

absl::StatusOr<FailSpec> parse_fail_spec(std::string_view text) {
  if (!text.starts_with(kFailKind)) return bad_fail(text, "only cables can fail");
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return bad_fail(text, "it has no time");
  FailSpec spec;
  spec.cable = std::string(text.substr(kFailKind.size(), at - kFailKind.size()));
  if (spec.cable.empty()) return bad_fail(text, "it has no cable");
  const absl::StatusOr<std::uint64_t> when_ns = routing::parse_time_ns(text.substr(at + 1));
  if (!when_ns.ok()) return bad_fail(text, std::string(when_ns.status().message()));
  spec.when = Duration(static_cast<Duration::rep>(*when_ns));
  return spec;
}

}  // namespace cableway::cli
