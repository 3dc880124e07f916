#include "tools/collperf/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/text/json_schema.h"

namespace cableway::collperf {
namespace {

// The maximum of one value over the ranks: an operation is as slow as its slowest rank.
template <typename Member>
double slowest_of(const Result& result, Member member) {
  double slowest = 0;
  for (const RankResult& rank : result.by_rank) slowest = std::max(slowest, rank.*member);
  return slowest;
}

template <typename Member>
std::uint64_t sum_of(const Result& result, Member member) {
  std::uint64_t sum = 0;
  for (const RankResult& rank : result.by_rank) sum += rank.*member;
  return sum;
}

template <typename Member>
nlohmann::ordered_json by_rank(const Result& result, Member member) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const RankResult& rank : result.by_rank) list.push_back(rank.*member);
  return list;
}

std::uint64_t total_wrong(const std::vector<Result>& results) {
  std::uint64_t wrong = 0;
  for (const Result& result : results) wrong += result.wrong();
  return wrong;
}

std::uint64_t total_verified(const std::vector<Result>& results) {
  std::uint64_t bytes = 0;
  for (const Result& result : results) bytes += result.bytes_verified();
  return bytes;
}

nlohmann::ordered_json json_result(const Result& result) {
  const bool timed = result.iterations() > 0;
  const auto number = [&](double value) { return timed ? nlohmann::ordered_json(value) : nlohmann::ordered_json(); };
  return {{"op", operation_name(result.workload)},
          {"variant", variant_name(result.workload)},
          {"size_bytes", result.size},
          {"step_bytes", result.step_bytes},
          {"iterations", result.iterations()},
          {"time_us", number(result.time_us())},
          {"p50_us", number(result.p50_us())},
          {"p99_us", number(result.p99_us())},
          {"algbw_GBps", number(result.alg_bw())},
          {"busbw_GBps", number(result.bus_bw())},
          {"wrong", result.wrong()},
          {"bytes_verified", result.bytes_verified()},
          {"seconds", result.seconds()},
          {"cpu_seconds", by_rank(result, &RankResult::cpu_seconds)},
          {"bytes_sent", by_rank(result, &RankResult::bytes_sent)}};
}

}  // namespace

std::string encode(const RankResult& result) {
  return nlohmann::json({{"iterations", result.iterations},
                         {"seconds", result.seconds},
                         {"p50_us", result.p50_us},
                         {"p99_us", result.p99_us},
                         {"cpu_seconds", result.cpu_seconds},
                         {"bytes_sent", result.bytes_sent},
                         {"wrong", result.wrong},
                         {"bytes_verified", result.bytes_verified}})
      .dump();
}

absl::StatusOr<RankResult> decode_rank_result(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  RankResult result;
  bool good = json.is_object();
  const auto read = [&](const char* name, auto& value) {
    good = good && json.contains(name) && json[name].is_number();
    if (good) value = json[name].get<std::remove_reference_t<decltype(value)>>();
  };
  read("iterations", result.iterations);
  read("seconds", result.seconds);
  read("p50_us", result.p50_us);
  read("p99_us", result.p99_us);
  read("cpu_seconds", result.cpu_seconds);
  read("bytes_sent", result.bytes_sent);
  read("wrong", result.wrong);
  read("bytes_verified", result.bytes_verified);
  if (!good) return absl::InvalidArgumentError(absl::StrCat("not a rank's result: ", text));
  return result;
}

double percentile_us(std::vector<std::uint32_t> nanoseconds, int percent) {
  if (nanoseconds.empty()) return 0;
  const std::size_t index = (nanoseconds.size() - 1) * static_cast<std::size_t>(percent) / 100;
  std::ranges::nth_element(nanoseconds, nanoseconds.begin() + static_cast<std::ptrdiff_t>(index));
  return nanoseconds[index] / 1000.0;
}

std::uint64_t Result::iterations() const {
  return by_rank.empty() ? 0 : by_rank.front().iterations;
}
double Result::per_message() const {
  return workload.operation == Operation::kPingPong ? 0.5 : 1;
}
double Result::seconds() const {
  return slowest_of(*this, &RankResult::seconds);
}
double Result::time_us() const {
  return iterations() == 0 ? 0 : seconds() * 1e6 / static_cast<double>(iterations()) * per_message();
}
double Result::p50_us() const {
  return slowest_of(*this, &RankResult::p50_us) * per_message();
}
double Result::p99_us() const {
  return slowest_of(*this, &RankResult::p99_us) * per_message();
}
double Result::alg_bw() const {
  const double us = time_us();
  return us > 0 ? static_cast<double>(size) / us / 1e3 : 0;
}
double Result::bus_bw() const {
  return alg_bw() * bus_factor(workload, ranks);
}
std::uint64_t Result::wrong() const {
  return sum_of(*this, &RankResult::wrong);
}
std::uint64_t Result::bytes_verified() const {
  return sum_of(*this, &RankResult::bytes_verified);
}

std::string table_header(const Options& options, const PluginDescription& plugin) {
  return absl::StrFormat(
             "# collperf: %s (%s, v%d), device %d %s at %d Mbit/s, %d ranks, %d channels, %d messages in flight\n",
             plugin.path, plugin.name, plugin.abi, plugin.device, plugin.device_name, plugin.speed_mbps, options.ranks,
             options.channels, options.in_flight) +
         absl::StrFormat("# %-14s %-10s %12s %8s %12s %12s %12s %12s %12s %10s %14s\n", "op", "variant", "size (B)",
                         "iters", "time (us)", "p50 (us)", "p99 (us)", "algbw (GB/s)", "busbw (GB/s)", "#wrong",
                         "verified (B)");
}

std::string table_row(const Result& result) {
  return absl::StrFormat("  %-14s %-10s %12d %8d %12.2f %12.2f %12.2f %12.3f %12.3f %10d %14d\n",
                         operation_name(result.workload), variant_name(result.workload), result.size,
                         result.iterations(), result.time_us(), result.p50_us(), result.p99_us(), result.alg_bw(),
                         result.bus_bw(), result.wrong(), result.bytes_verified());
}

std::string table_footer(const std::vector<Result>& results, const absl::Status& status) {
  if (!status.ok()) return absl::StrFormat("# collperf: failed: %s\n", status.message());
  const std::uint64_t wrong = total_wrong(results);
  if (wrong > 0) return absl::StrFormat("# collperf: %d of %d bytes wrong\n", wrong, total_verified(results));
  return absl::StrFormat("# collperf: ok, %d bytes verified\n", total_verified(results));
}

nlohmann::ordered_json json_report(const Options& options, const PluginDescription& plugin,
                                   const std::vector<Result>& results, const absl::Status& status) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Result& result : results) list.push_back(json_result(result));
  const std::uint64_t wrong = total_wrong(results);
  nlohmann::ordered_json report = {{routing::kSchemaMember, routing::kJsonSchema},
                                   {"plugin",
                                    {{"path", plugin.path},
                                     {"name", plugin.name},
                                     {"abi", plugin.abi},
                                     {"device", plugin.device},
                                     {"device_name", plugin.device_name},
                                     {"speed_mbps", plugin.speed_mbps}}},
                                   {"ranks", options.ranks},
                                   {"channels", options.channels},
                                   {"in_flight", options.in_flight}};
  report["results"] = std::move(list);
  report["wrong"] = wrong;
  report["bytes_verified"] = total_verified(results);
  report["ok"] = status.ok() && wrong == 0;
  report["error"] = status.ok() ? nlohmann::ordered_json() : nlohmann::ordered_json(std::string(status.message()));
  return report;
}

}  // namespace cableway::collperf
