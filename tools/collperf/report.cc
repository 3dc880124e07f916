#include "tools/collperf/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"

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

constexpr char kUnknown[] = "N/A";

// Sums are of 32-bit words; what is only moved is counted in bytes.
struct Element {
  const char* type;
  const char* reduction;
  std::uint64_t bytes;
};

Element element_of(const Workload& workload) {
  switch (workload.operation) {
    case Operation::kAllReduceRing:
    case Operation::kAllReduceTree:
    case Operation::kReduceScatter:
    case Operation::kReduce:
      return {"uint32", "sum", sizeof(std::uint32_t)};
    default:
      return {"uint8", "none", 1};
  }
}

// -1 for operations without a root, as nccl-tests has it.
int root_of(const Workload& workload) {
  return workload.operation == Operation::kBroadcast || workload.operation == Operation::kReduce ? 0 : -1;
}

// Microseconds in seven columns, with the decimals of nccl-tests.
std::string time_text(double us) {
  if (us >= 10000) return absl::StrFormat("%.0f", us);
  return us >= 100 ? absl::StrFormat("%.1f", us) : absl::StrFormat("%.2f", us);
}

// GB/s. Slow cables need more decimals than nccl-tests has.
std::string rate_text(double rate) {
  return rate >= 1 ? absl::StrFormat("%.2f", rate) : absl::StrFormat("%.4f", rate);
}

// The four columns of nccl-tests' out-of-place block, and of its in-place block.
std::string block_text(const std::string& time, const std::string& alg_bw, const std::string& bus_bw,
                       const std::string& wrong) {
  return absl::StrFormat("  %7s  %6s  %6s %6s", time, alg_bw, bus_bw, wrong);
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
          {"bytes_sent", by_rank(result, &RankResult::bytes_sent)},
          {"messages_sent", by_rank(result, &RankResult::messages_sent)}};
}

}  // namespace

std::string encode(const RankResult& result) {
  return nlohmann::json({{"iterations", result.iterations},
                         {"seconds", result.seconds},
                         {"p50_us", result.p50_us},
                         {"p99_us", result.p99_us},
                         {"cpu_seconds", result.cpu_seconds},
                         {"bytes_sent", result.bytes_sent},
                         {"messages_sent", result.messages_sent},
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
  read("messages_sent", result.messages_sent);
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
double Result::seconds() const {
  return slowest_of(*this, &RankResult::seconds);
}
double Result::time_us() const {
  return iterations() == 0 ? 0 : seconds() * 1e6 / static_cast<double>(iterations()) * time_share(workload);
}
double Result::p50_us() const {
  return slowest_of(*this, &RankResult::p50_us) * time_share(workload);
}
double Result::p99_us() const {
  return slowest_of(*this, &RankResult::p99_us) * time_share(workload);
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

std::string encode(const RankPlace& place) {
  return nlohmann::json({{"host", place.host}, {"process", place.process}}).dump();
}

absl::StatusOr<RankPlace> decode_rank_place(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("host") || !json["host"].is_string() || !json.contains("process") ||
      !json["process"].is_number_integer()) {
    return absl::InvalidArgumentError(absl::StrCat("not a rank's place: ", text));
  }
  return RankPlace{json["host"].get<std::string>(), json["process"].get<int>()};
}

std::string table_header(const Options& options, const PluginDescription& plugin,
                         const std::vector<RankPlace>& places) {
  std::string text =
      absl::StrFormat("# collperf: %s (%s, v%d) at %d Mbit/s, %d channels, %d messages in flight\n", plugin.path,
                      plugin.name, plugin.abi, plugin.speed_mbps, options.channels, options.in_flight);
  absl::StrAppendFormat(&text, "# nRanks %d warmup iters: %d iters: %d validation: %d\n#\n# Using devices\n",
                        options.place.ranks, options.warmup, options.iterations, options.check_iterations);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    absl::StrAppendFormat(&text, "#  Rank %2d Group  0 Pid %6d on %10s device %2d %s\n", rank, places[rank].process,
                          routing::escaped(places[rank].host), plugin.device, plugin.device_name);
  }
  return text;
}

std::string table_columns(const Workload& workload) {
  std::string text = absl::StrCat("#\n# ", workload::pattern_text(workload), "\n#\n");
  const std::string names = block_text("time", "algbw", "busbw", "#wrong");
  const std::string units = block_text("(us)", "(GB/s)", "(GB/s)", "");
  absl::StrAppendFormat(&text, "# %50s           %-35s%-18s\n", "", "out-of-place", "in-place");
  absl::StrAppendFormat(&text, "# %10s  %12s  %8s  %6s  %6s%s%s\n", "size", "count", "type", "redop", "root", names,
                        names);
  absl::StrAppendFormat(&text, "# %10s  %12s  %8s  %6s  %6s%s%s\n", "(B)", "(elements)", "", "", "", units, units);
  return text;
}

std::string table_row(const Result& result, bool checked) {
  const bool timed = result.iterations() > 0;
  const Element element = element_of(result.workload);
  std::string text = absl::StrFormat("%12d  %12d  %8s  %6s  %6d", result.size, result.size / element.bytes,
                                     element.type, element.reduction, root_of(result.workload));
  absl::StrAppend(
      &text,
      block_text(timed ? time_text(result.time_us()) : kUnknown, timed ? rate_text(result.alg_bw()) : kUnknown,
                 timed ? rate_text(result.bus_bw()) : kUnknown, checked ? absl::StrCat(result.wrong()) : kUnknown),
      block_text(kUnknown, kUnknown, kUnknown, kUnknown), "\n");
  if (timed && result.workload.operation == Operation::kPingPong) {
    absl::StrAppendFormat(&text, "#   half round trips: p50 %.2f us, p99 %.2f us\n", result.p50_us(), result.p99_us());
  }
  return text;
}

std::string table_footer(const std::vector<Result>& results, const absl::Status& status, bool checked) {
  // Scripts must not take the rows before a failure for a result.
  if (!status.ok()) return absl::StrCat("# collperf: failed: ", status.message(), "\n");
  const std::uint64_t wrong = total_wrong(results);
  std::string text = absl::StrCat(
      "# Out of bounds values : ", checked ? absl::StrCat(wrong, wrong == 0 ? " OK" : " FAILED") : "N/A", "\n");
  // As nccl-tests: of all rows alike.
  double sum = 0;
  int timed = 0;
  for (const Result& result : results) {
    if (result.iterations() == 0) continue;
    sum += result.bus_bw();
    ++timed;
  }
  absl::StrAppendFormat(&text, "# Avg bus bandwidth    : %s\n#\n",
                        timed > 0 ? absl::StrFormat("%g", sum / timed) : kUnknown);
  if (wrong > 0) return absl::StrFormat("%s# collperf: %d of %d bytes wrong\n", text, wrong, total_verified(results));
  return absl::StrFormat("%s# collperf: ok, %d bytes verified\n", text, total_verified(results));
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
                                   {"ranks", options.place.ranks},
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
