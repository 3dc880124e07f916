#include "tools/cableway/sim/sim_text.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/workload/workload.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

constexpr std::size_t kRowsShown = 10;
constexpr std::size_t kRanksShown = 16;

std::string line(const char* heading, const std::string& text) {
  return absl::StrFormat("%-10s %s\n", heading, text);
}

std::string request_text(const SimReport& report) {
  const sim::PredictionRequest& request = report.request;
  const std::string latency = assumed_latency_text(report.topology);
  return absl::StrCat(
      line("topology", absl::StrCat(report.source, ": ", topology_summary(report.topology))),
      line("workload", absl::StrCat(report.workload, " on ", request.ranks.size(), " ranks, ", request.channels,
                                    request.channels == 1 ? " channel" : " channels")),
      line("ranks", ranks_text(report.topology, request.ranks, kRanksShown)),
      latency.empty() ? "" : line("latency", latency));
}

std::string operations_text(const sim::GroupPrediction& group) {
  if (group.operation_s.size() < 2) return "";
  return absl::StrCat(", the mean of ", group.operation_s.size(), " operations; the first took ",
                      seconds_text(group.operation_s.front()));
}

std::string bound_text(const SimReport& report) {
  if (!report.bound) return line("bound", absl::StrCat("not known: ", report.no_bound));
  const ReportBound& bound = *report.bound;
  std::string text =
      line("bound", absl::StrCat(seconds_text(bound.seconds), ", the lower bound of the cables (", bound.method,
                                 bound.gap > 0 ? absl::StrFormat(", within %.1f %%", 100 * bound.gap) : "", ")"));
  if (const double ratio = ratio_of(report); ratio > 0) {
    const auto& cuts = report.prediction.cuts;
    const bool was_cut = std::any_of(cuts.begin(), cuts.end(), [](const auto& effect) { return effect.happened; });
    absl::StrAppend(&text,
                    line("ratio", absl::StrFormat("%.3f of what %s cables allow", ratio, was_cut ? "all" : "the")));
  }
  return text;
}

std::string times_text(const SimReport& report) {
  const sim::Prediction& prediction = report.prediction;
  if (prediction.early_end) {
    return absl::StrCat(
        line("ended", absl::StrFormat("at %s, with %.1f %% of the messages completed", seconds_text(prediction.whole_s),
                                      100 * prediction.early_end->share_done)),
        line("why", prediction.early_end->reason), bound_text(report));
  }
  const bool is_mix = report.request.mix.has_value();
  std::string text = line(
      "time", absl::StrCat(seconds_text(prediction.time_s), is_mix ? "" : operations_text(prediction.groups.front())));
  if (!is_mix) {
    absl::StrAppend(&text, line("algbw", absl::StrFormat("%.3f GB/s", prediction.algbw_GBps)),
                    line("busbw", absl::StrFormat("%.3f GB/s", prediction.busbw_GBps)));
  }
  return text + bound_text(report);
}

std::string relays_text(const SimReport& report) {
  const std::vector<sim::RelayLoad>& relays = report.prediction.relays;
  if (report.level == "flow") return "";
  if (relays.empty()) return line("relays", "none: no flow crosses more than one cable");
  const auto most = std::max_element(relays.begin(), relays.end(),
                                     [](const auto& left, const auto& right) { return left.bytes < right.bytes; });
  return line("relays", absl::StrCat(relays.size(), relays.size() == 1 ? " node relays" : " nodes relay",
                                     "; the most memory is used by ", report.topology.node(most->node).name, ": ",
                                     bytes_text(most->bytes), " of slots for ", most->circuits, " circuits"));
}

std::string simulated_text(const SimReport& report) {
  const sim::Prediction& prediction = report.prediction;
  if (report.level == "flow") {
    return line("simulated", absl::StrCat("at flow level in ", seconds_text(report.elapsed_s), ": ", prediction.flows,
                                          " transfers"));
  }
  return line("simulated", absl::StrCat("in ", seconds_text(report.elapsed_s), ": ", flows_text(report), ", ",
                                        prediction.crossings, " chunks over cables"));
}

std::string hottest_text(const SimReport& report) {
  const std::optional<HottestPlace> hottest = hottest_place(report.prediction);
  if (!hottest) return "";
  return line("hottest", absl::StrCat(place_text(report, *hottest), ": ", percent_text(hottest->utilisation),
                                      hottest->shared == nullptr
                                          ? ""
                                          : absl::StrCat(", which ", hottest->shared->cables.size(), " cables share")));
}

std::string groups_text(const SimReport& report) {
  if (!report.request.mix) return "";
  using Align = TextTable::Align;
  TextTable table({{"group"},
                   {"workload"},
                   {"ranks", Align::kRight},
                   {"starts", Align::kRight},
                   {"operations", Align::kRight},
                   {"time each", Align::kRight},
                   {"busbw GB/s", Align::kRight}});
  for (const sim::GroupPrediction& group : report.prediction.groups) {
    const bool is_done = group.time_s > 0;
    table.add_row({group.name, workload::workload_text({group.workload, group.size}), absl::StrCat(group.ranks),
                   seconds_text(group.started_s), absl::StrCat(group.operation_s.size()),
                   is_done ? seconds_text(group.time_s) : "-",
                   is_done ? absl::StrFormat("%.3f", group.busbw_GBps) : "-"});
  }
  return absl::StrCat("\n", table.text());
}

std::string cut_text(const SimReport& report, const sim::CutEffect& effect, bool all) {
  const std::string cable = wire_text(report.topology, effect.wire);
  const std::string when = seconds_text(std::chrono::duration<double>(effect.cut.when).count());
  if (!effect.happened) return absl::StrCat("cut        ", cable, " at ", when, ": the job had already ended\n");
  std::string text = absl::StrCat("cut        ", cable, " at ", when, ": ", hit_summary(report, effect), "\n");
  const std::size_t shown = all ? effect.hit.size() : std::min(effect.hit.size(), kRowsShown);
  for (const auto& hit : std::span(effect.hit).first(shown)) {
    absl::StrAppend(&text, "           ", hit_flow_text(report, hit), "\n");
  }
  if (shown < effect.hit.size()) {
    absl::StrAppend(&text, "           and ", effect.hit.size() - shown, " more: --all\n");
  }
  return text;
}

std::string cuts_text(const SimReport& report, bool all) {
  std::string text;
  for (const sim::CutEffect& effect : report.prediction.cuts) absl::StrAppend(&text, cut_text(report, effect, all));
  if (report.prediction.bytes_again > 0) {
    absl::StrAppend(&text, line("sent again", bytes_text(report.prediction.bytes_again)));
  }
  if (!report.left) return text.empty() ? "" : absl::StrCat("\n", text);
  const JobOnCablesLeft& left = *report.left;
  if (!left.impossible.empty()) {
    absl::StrAppend(&text, line("left", absl::StrCat("on the cables left the job cannot run: ", left.impossible)));
  } else {
    absl::StrAppend(
        &text,
        line("left", absl::StrFormat(
                         "on the cables left the whole job takes %s at flow level, %.2f times the %s with all cables",
                         seconds_text(left.without_s), left.without_s / left.intact_s, seconds_text(left.intact_s))));
  }
  return absl::StrCat("\n", text);
}

std::string cables_text(const SimReport& report, bool all) {
  using Align = TextTable::Align;
  TextTable table({{"cable", Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"a"},
                   {"b"},
                   {"Mbit/s", Align::kRight},
                   {"a -> b", Align::kRight},
                   {"b -> a", Align::kRight},
                   {"sent by a", Align::kRight},
                   {"sent by b", Align::kRight}});
  const std::vector<CableBusyness> cables = hottest_first(report.prediction);
  const std::size_t shown = all ? cables.size() : std::min(cables.size(), kRowsShown);
  const routing::ShortCableNames names(report.topology);
  for (const CableBusyness& each : std::span(cables).first(shown)) {
    const routing::Cable& cable = report.topology.cable(each.cable);
    table.add_row({names.of(cable), report.topology.node(cable.a.node).name, report.topology.node(cable.b.node).name,
                   absl::StrCat(cable.rate_mbps), percent_text(each.from_a), percent_text(each.from_b),
                   bytes_text(each.bytes_from_a), bytes_text(each.bytes_from_b)});
  }
  const std::size_t left = cables.size() - shown;
  return absl::StrCat("\n", table.text(), left == 0 ? "" : absl::StrCat("and ", left, " more: --all\n"));
}

std::string shared_text(const SimReport& report, bool all) {
  if (report.prediction.shared.empty()) return "";
  using Align = TextTable::Align;
  TextTable table({{"shared", Align::kLeft, TextTable::Fit::kCutMiddle},
                   {"cables", Align::kRight},
                   {"Mbit/s", Align::kRight},
                   {"out", Align::kRight},
                   {"in", Align::kRight},
                   {"sent", Align::kRight},
                   {"received", Align::kRight}});
  const std::vector<sim::SharedLoad> shared = hottest_shared_first(report.prediction);
  const std::size_t shown = all ? shared.size() : std::min(shared.size(), kRowsShown);
  const routing::ShortCableNames names(report.topology);
  for (const sim::SharedLoad& each : std::span(shared).first(shown)) {
    table.add_row({shared_name(names, each), absl::StrCat(each.cables.size()), absl::StrCat(each.rate_mbps),
                   percent_text(each.out.utilisation), percent_text(each.in.utilisation), bytes_text(each.out.bytes),
                   bytes_text(each.in.bytes)});
  }
  const std::size_t left = shared.size() - shown;
  return absl::StrCat("\n", table.text(), left == 0 ? "" : absl::StrCat("and ", left, " more: --all\n"));
}

}  // namespace

std::string sim_text(const SimReport& report, bool all) {
  return absl::StrCat(request_text(report), "\n", times_text(report), relays_text(report), hottest_text(report),
                      simulated_text(report), groups_text(report), cuts_text(report, all), cables_text(report, all),
                      shared_text(report, all));
}

}  // namespace cableway::cli
