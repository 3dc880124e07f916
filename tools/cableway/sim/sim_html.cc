#include "tools/cableway/sim/sim_html.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/workload/workload_text.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/sim/cable_map.h"
#include "tools/cableway/sim/report_style.h"
#include "tools/cableway/sim/timeline_chart.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

constexpr std::size_t kHitFlowsShown = 20;
constexpr std::size_t kRanksInReport = 64;

std::string card(const char* what, const std::string& figure, const std::string& more) {
  return absl::StrCat("<div class=\"card\"><div class=\"what\">", what, "</div><div class=\"figure\">",
                      xml_text(figure), "</div>", more, "</div>\n");
}

std::string more(const std::string& text) {
  return absl::StrCat("<div class=\"more\">", xml_text(text), "</div>");
}

std::string section(const char* heading, const std::string& body) {
  return absl::StrCat("<section>\n<h2>", heading, "</h2>\n", body, "</section>\n");
}

std::string time_card(const SimReport& report) {
  const sim::Prediction& prediction = report.prediction;
  if (prediction.early_end) {
    return card("Ended early after", seconds_text(prediction.whole_s),
                more(absl::StrCat(percent_text(prediction.early_end->share_done), " of the messages were completed")));
  }
  const std::size_t operations = prediction.operation_s.size();
  return card("Time", seconds_text(prediction.time_s),
              more(operations < 2 ? report.workload : absl::StrCat("mean of ", operations, " operations")));
}

std::string bound_card(const SimReport& report) {
  if (!report.bound) return card("Ratio (bound / time)", "-", more(report.no_bound));
  const double ratio = ratio_of(report);
  const std::string meter =
      absl::StrFormat("<div class=\"meter\"><span style=\"width:%.1f%%\"></span></div>", 100 * std::min(ratio, 1.0));
  return card("Ratio (bound / time)", ratio > 0 ? percent_text(ratio) : "-",
              absl::StrCat(meter, more(absl::StrCat("lower bound ", seconds_text(report.bound->seconds), ": ",
                                                    report.bound->method))));
}

const char* hottest_heading(const sim::SharedLoad* shared) {
  if (shared == nullptr) return "Hottest cable";
  switch (shared->kind) {
    case sim::SharedLoad::Kind::kWire:
      return "Hottest wire";
    case sim::SharedLoad::Kind::kConnector:
      return "Hottest port";
    case sim::SharedLoad::Kind::kRoot:
      break;
  }
  return "Hottest PCIe link";
}

std::string hottest_card(const SimReport& report) {
  const std::optional<HottestPlace> hottest = hottest_place(report.prediction);
  if (!hottest) return "";
  const sim::SharedLoad* shared = hottest->shared;
  return card(
      hottest_heading(shared), percent_text(hottest->utilisation),
      more(absl::StrCat(place_text(report, *hottest),
                        shared == nullptr ? "" : absl::StrCat("; ", shared->cables.size(), " cables share it"))));
}

std::string cards(const SimReport& report) {
  const sim::Prediction& prediction = report.prediction;
  std::string text = time_card(report);
  if (!report.request.mix && prediction.time_s > 0) {
    absl::StrAppend(&text, card("Bus bandwidth", absl::StrFormat("%.3f GB/s", prediction.busbw_GBps),
                                more(absl::StrFormat("algbw %.3f GB/s", prediction.algbw_GBps))));
  }
  absl::StrAppend(&text, bound_card(report));
  absl::StrAppend(&text, hottest_card(report));
  return absl::StrCat("<div class=\"cards\">\n", text, "</div>\n");
}

std::string left_text(const SimReport& report) {
  if (!report.left) return "";
  const JobOnCablesLeft& left = *report.left;
  if (!left.impossible.empty()) {
    return absl::StrCat("<p>On the cables left the job cannot run: ", xml_text(left.impossible), ".</p>\n");
  }
  return absl::StrFormat(
      "<p>On the cables left the whole job takes %s at flow level: %.2f times the %s with all cables.</p>\n",
      seconds_text(left.without_s), left.without_s / left.intact_s, seconds_text(left.intact_s));
}

std::string cut_text(const SimReport& report, const sim::CutEffect& effect) {
  const std::string when = seconds_text(std::chrono::duration<double>(effect.cut.when).count());
  std::string text =
      absl::StrCat("<p><b>", xml_text(wire_text(report.topology, effect.wire)), "</b> cut at ", when, ": ");
  if (!effect.happened) return absl::StrCat(text, "the job had already ended.</p>\n");
  absl::StrAppend(&text, hit_summary(report, effect), ".</p>\n");
  if (effect.hit.empty()) return text;
  absl::StrAppend(&text, "<ul>\n");
  for (const auto& hit : std::span(effect.hit).first(std::min(effect.hit.size(), kHitFlowsShown))) {
    absl::StrAppend(&text, "<li>", xml_text(hit_flow_text(report, hit)), "</li>\n");
  }
  if (effect.hit.size() > kHitFlowsShown) {
    absl::StrAppend(&text, "<li>and ", effect.hit.size() - kHitFlowsShown, " more</li>\n");
  }
  return absl::StrCat(text, "</ul>\n");
}

std::string failures(const SimReport& report) {
  if (report.prediction.cuts.empty()) return "";
  std::string text = "<section class=\"alarm\">\n<h2>Failures</h2>\n";
  if (report.prediction.early_end) {
    absl::StrAppend(&text, "<p>The job ended: ", xml_text(report.prediction.early_end->reason), ".</p>\n");
  }
  for (const sim::CutEffect& effect : report.prediction.cuts) absl::StrAppend(&text, cut_text(report, effect));
  return absl::StrCat(text, left_text(report), "</section>\n");
}

std::string legend(const DrawnMap& map, bool has_cut) {
  std::string text = "<ul class=\"legend\">\n";
  for (int heat = 0; heat < kHeatLevels; ++heat) {
    absl::StrAppend(&text, absl::StrFormat("<li><span class=\"key h%d\" style=\"height:%dpx\"></span><span "
                                           "class=\"label\">%s</span></li>\n",
                                           heat, heat + 3, heat_name(heat)));
  }
  if (map.has_bands) {
    absl::StrAppend(&text,
                    "<li><span class=\"key wire-key\" style=\"height:14px\"></span><span class=\"label\">cables of "
                    "one wire</span></li>\n");
  }
  return absl::StrCat(text, has_cut ? "<li><span class=\"label\">dashed: cut</span></li>\n" : "", "</ul>\n");
}

std::string map_section(const SimReport& report) {
  if (report.topology.cable_count() > kMaxCablesDrawn) {
    return section("Cables",
                   absl::StrCat("<p class=\"soft\">More than ", kMaxCablesDrawn, " cables: too many to draw.</p>\n"));
  }
  const bool has_cut = std::any_of(report.prediction.cuts.begin(), report.prediction.cuts.end(),
                                   [](const sim::CutEffect& effect) { return effect.happened; });
  const DrawnMap map = cable_map(report);
  return section(
      "How busy the cables were",
      absl::StrCat("<div class=\"wide\">\n", map.svg, "</div>\n", legend(map, has_cut),
                   "<p class=\"soft\">Each cable is two lines, one per direction, in right-hand traffic; the label is "
                   "the busier direction. ",
                   map.has_switches ? "The lines from a switch to a port are what all cables of the port carry. " : "",
                   "Hover for details.</p>\n"));
}

std::string timeline_section(const SimReport& report) {
  const std::string chart = timeline_chart(report);
  if (chart.empty()) return "";
  const auto& cables = report.prediction.cables;
  const std::size_t busy = static_cast<std::size_t>(std::count_if(
      cables.begin(), cables.end(), [](const sim::CableLoad& load) { return heat_of(load.utilisation) > 0; }));
  return section(
      "Over time",
      absl::StrCat(
          "<div class=\"wide\">\n", chart, "</div>\n<p class=\"soft\">",
          busy > kTimelineRows ? absl::StrCat("The ", kTimelineRows, " hottest of ", busy, " active directions. ") : "",
          "Each row is 0 to 100 % of the cable's rate, in intervals of ",
          seconds_text(std::chrono::duration<double>(report.prediction.timeline.interval).count()),
          "; the number is the mean.</p>\n"));
}

std::string share_cell(double utilisation) {
  return absl::StrFormat(
      "<td class=\"n\"><span class=\"bar h%d\"><span style=\"width:%.1f%%\"></span></span><span "
      "class=\"share\">%s</span></td>",
      heat_of(utilisation), 100 * std::min(utilisation, 1.0), percent_text(utilisation));
}

std::string cables_section(const SimReport& report) {
  const std::vector<CableBusyness> cables = hottest_first(report.prediction);
  const std::size_t shown = std::min(cables.size(), kMaxCableRows);
  const routing::ShortCableNames names(report.topology);
  std::string rows;
  for (const CableBusyness& each : std::span(cables).first(shown)) {
    const routing::Cable& cable = report.topology.cable(each.cable);
    absl::StrAppend(
        &rows, "<tr><td>", xml_text(names.of(cable)), "</td><td>", xml_text(report.topology.node(cable.a.node).name),
        "</td><td>", xml_text(report.topology.node(cable.b.node).name), "</td><td class=\"n\">",
        rate_text(cable.rate_mbps), "</td>", share_cell(each.from_a), share_cell(each.from_b), "<td class=\"n\">",
        bytes_text(each.bytes_from_a), "</td><td class=\"n\">", bytes_text(each.bytes_from_b), "</td></tr>\n");
  }
  return section(
      "Cables, hottest first",
      absl::StrCat(
          "<div class=\"wide\"><table>\n<thead><tr><th>cable</th><th>a</th><th>b</th><th class=\"n\">rate</th>"
          "<th class=\"n\">a to b</th><th class=\"n\">b to a</th><th class=\"n\">sent by a</th><th "
          "class=\"n\">sent by b</th></tr></thead>\n<tbody>\n",
          rows, "</tbody></table></div>\n",
          shown < cables.size() ? absl::StrCat("<p class=\"soft\">and ", cables.size() - shown, " more</p>\n") : ""));
}

std::string shared_section(const SimReport& report) {
  if (report.prediction.shared.empty()) return "";
  const std::vector<sim::SharedLoad> shared = hottest_shared_first(report.prediction);
  const std::size_t shown = std::min(shared.size(), kMaxCableRows);
  const routing::ShortCableNames names(report.topology);
  std::string rows;
  for (const sim::SharedLoad& each : std::span(shared).first(shown)) {
    absl::StrAppend(&rows, "<tr><td>", xml_text(shared_name(names, each)), "</td><td class=\"n\">", each.cables.size(),
                    "</td><td class=\"n\">", rate_text(each.rate_mbps), "</td>", share_cell(each.out.utilisation),
                    share_cell(each.in.utilisation), "<td class=\"n\">", bytes_text(each.out.bytes),
                    "</td><td class=\"n\">", bytes_text(each.in.bytes), "</td></tr>\n");
  }
  return section(
      "Wires, plugs, ports and PCIe links that cables share, hottest first",
      absl::StrCat(
          "<div class=\"wide\"><table>\n<thead><tr><th>shared</th><th class=\"n\">cables</th><th "
          "class=\"n\">rate</th><th "
          "class=\"n\">out</th><th class=\"n\">in</th><th class=\"n\">sent</th><th "
          "class=\"n\">received</th></tr></thead>\n<tbody>\n",
          rows, "</tbody></table></div>\n",
          shown < shared.size() ? absl::StrCat("<p class=\"soft\">and ", shared.size() - shown, " more</p>\n") : "",
          "<p class=\"soft\">They may be saturated while none of their cables is. Out and in are seen from the node; "
          "for a wire, from its end a.</p>\n"));
}

std::string groups_section(const SimReport& report) {
  if (!report.request.mix) return "";
  std::string rows;
  for (const sim::GroupPrediction& group : report.prediction.groups) {
    absl::StrAppend(&rows, "<tr><td>", xml_text(group.name), "</td><td>",
                    xml_text(workload::workload_text({group.workload, group.size})), "</td><td class=\"n\">",
                    group.ranks, "</td><td class=\"n\">", seconds_text(group.started_s), "</td><td class=\"n\">",
                    group.operation_s.size(), "</td><td class=\"n\">",
                    group.time_s > 0 ? seconds_text(group.time_s) : "-", "</td><td class=\"n\">",
                    absl::StrFormat("%.3f GB/s", group.busbw_GBps), "</td></tr>\n");
  }
  return section("Groups",
                 absl::StrCat("<div class=\"wide\"><table>\n<thead><tr><th>group</th><th>workload</th><th "
                              "class=\"n\">ranks</th><th class=\"n\">starts</th><th class=\"n\">operations</th><th "
                              "class=\"n\">time each</th><th class=\"n\">busbw</th></tr></thead>\n<tbody>\n",
                              rows, "</tbody></table></div>\n"));
}

std::string relays_section(const SimReport& report) {
  if (report.prediction.relays.empty()) return "";
  std::string rows;
  for (const sim::RelayLoad& relay : report.prediction.relays) {
    absl::StrAppend(&rows, "<tr><td>", xml_text(report.topology.node(relay.node).name), "</td><td class=\"n\">",
                    relay.circuits, "</td><td class=\"n\">", relay.most_leases, "</td><td class=\"n\">",
                    bytes_text(relay.bytes), "</td></tr>\n");
  }
  return section(
      "Relays",
      absl::StrCat("<div class=\"wide\"><table>\n<thead><tr><th>node</th><th class=\"n\">circuits</th><th "
                   "class=\"n\">most slots leased</th><th class=\"n\">slot memory</th></tr></thead>\n<tbody>\n",
                   rows, "</tbody></table></div>\n"));
}

std::string term(const char* name, const std::string& text) {
  return absl::StrCat("<dt>", name, "</dt><dd>", xml_text(text), "</dd>\n");
}

std::string origin_section(const SimReport& report) {
  const sim::PredictionRequest& request = report.request;
  std::string facts = term("ranks", ranks_text(report.topology, request.ranks, kRanksInReport));
  const std::string latency = assumed_latency_text(report.topology);
  if (!latency.empty()) absl::StrAppend(&facts, term("latency", latency));
  absl::StrAppend(
      &facts, term("channels", absl::StrCat(request.channels)), term("multipath", multipath_text(report)),
      term("chunks", bytes_text(request.circuits.chunk_bytes)),
      term("simulated", absl::StrCat("at ", report.level, " level in ", seconds_text(report.elapsed_s), ": ",
                                     flows_text(report), ", ", report.prediction.crossings, " chunks over cables")));
  return section("How this report was made",
                 absl::StrCat("<pre>", xml_text(report.command), "</pre>\n<dl>\n", facts, "</dl>\n"));
}

}  // namespace

std::string sim_html(const SimReport& report) {
  const std::string title = absl::StrCat(report.workload, " on ", report.source);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
      xml_text(title), "</title>\n<style>", kReportStyle, "</style>\n</head>\n<body>\n<main>\n<h1>", xml_text(title),
      "</h1>\n<p class=\"soft\">", xml_text(topology_summary(report.topology)), "; ", report.request.ranks.size(),
      " ranks. Predicted by Cableway's simulator.</p>\n", cards(report), failures(report), map_section(report),
      timeline_section(report), groups_section(report), cables_section(report), shared_section(report),
      relays_section(report), origin_section(report), "</main>\n</body>\n</html>\n");
}

}  // namespace cableway::cli
