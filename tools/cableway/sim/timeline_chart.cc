#include "tools/cableway/sim/timeline_chart.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/layout/text_width.h"
#include "routing/topology/short_cable_names.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/sim/cable_map.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// Pixels.
constexpr double kLeastLabels = 120;
constexpr double kMostLabels = 420;
constexpr double kRowPixels = 12.5;
constexpr double kPlot = 760;
constexpr double kValues = 70;
constexpr double kRow = 34;
constexpr double kArea = 24;  // of a row, at 100 %
constexpr double kTop = 8;
constexpr double kAxis = 34;

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

// 1, 2 or 5 times a power of ten, for about five ticks.
double tick_distance(double whole) {
  const double rough = whole / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

class Timeline {
 public:
  explicit Timeline(const SimReport& report)
      : report_(report),
        samples_(report.prediction.timeline),
        whole_s_(seconds(samples_.whole)),
        names_(report.topology),
        busy_(wire_utilisations(report)) {
    rows_.reserve(report.prediction.cables.size());
    for (std::size_t i = 0; i < report.prediction.cables.size(); ++i) rows_.push_back(i);
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](std::size_t left, std::size_t right) { return busy_[left] > busy_[right]; });
    rows_.resize(std::min(rows_.size(), kTimelineRows));
    while (rows_.size() > 1 && heat_of(busy_[rows_.back()]) == 0) rows_.pop_back();
    for (const std::size_t row : rows_) {
      labels_ = std::clamp(routing::text_width(name_of(row), kRowPixels) + 20, labels_, kMostLabels);
    }
  }

  std::string text() const {
    const double width = labels_ + kPlot + kValues;
    const double height = kTop + kRow * static_cast<double>(rows_.size()) + kAxis;
    std::string svg = absl::StrFormat(
        "<svg class=\"timeline\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"utilisation over "
        "time\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
        width, height, width, height);
    absl::StrAppend(&svg, axis(height - kAxis));
    for (std::size_t row = 0; row < rows_.size(); ++row) absl::StrAppend(&svg, area(row));
    return absl::StrCat(svg, cuts(height - kAxis), "</svg>\n");
  }

 private:
  // "c0  n0 -> n1"
  std::string name_of(std::size_t direction) const {
    const sim::CableLoad& load = report_.prediction.cables[direction];
    return absl::StrCat(names_.of(load.cable), "  ", direction_text(report_.topology, load.cable, load.from_a));
  }

  double place_of(double time_s) const { return labels_ + kPlot * std::min(time_s / whole_s_, 1.0); }

  std::string axis(double bottom) const {
    std::string svg;
    const double distance = tick_distance(whole_s_);
    for (int i = 0; i * distance <= whole_s_ * 1.0001; ++i) {
      const double x = place_of(i * distance);
      absl::StrAppend(&svg, absl::StrFormat("<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" "
                                            "x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                                            x, kTop, bottom + 5, x, bottom + 20, seconds_text(i * distance)));
    }
    return svg;
  }

  // In one sample, of the cable's rate or of that of its wire, if all the cables of the wire fill that more.
  double utilisation(std::size_t sample, std::size_t direction) const {
    const sim::CableLoad& load = report_.prediction.cables[direction];
    const routing::Cable& cable = report_.topology.cable(load.cable);
    double most = share(sample, {direction}, cable.rate_mbps);
    for (const sim::SharedLoad& wire : report_.prediction.shared) {
      if (wire.kind != sim::SharedLoad::Kind::kWire) continue;
      if (!std::binary_search(wire.cables.begin(), wire.cables.end(), load.cable)) continue;
      const routing::NodeIndex from = load.from_a ? cable.a.node : cable.b.node;
      std::vector<std::size_t> directions;
      for (const routing::CableIndex each : wire.cables) {
        directions.push_back(2ULL * each.value + (report_.topology.cable(each).a.node == from ? 0 : 1));
      }
      most = std::max(most, share(sample, directions, wire.rate_mbps));
    }
    return most;
  }

  double share(std::size_t sample, const std::vector<std::size_t>& directions, std::uint64_t rate_mbps) const {
    constexpr double kBytesPerMegabit = 125'000;
    double bytes = 0;
    for (const std::size_t each : directions) bytes += static_cast<double>(samples_.at(sample, each));
    const double most = static_cast<double>(rate_mbps) * kBytesPerMegabit * seconds(samples_.length(sample));
    return most > 0 ? std::min(bytes / most, 1.0) : 0;
  }

  std::string area(std::size_t row) const {
    const std::size_t direction = rows_[row];
    const double base = kTop + kRow * static_cast<double>(row + 1) - 4;
    std::string path = absl::StrFormat("M%.1f %.1f", labels_, base);
    double before = -1;
    for (std::size_t sample = 0; sample < samples_.count(); ++sample) {
      const double y = base - kArea * utilisation(sample, direction);
      const double begin = place_of(seconds(samples_.interval) * static_cast<double>(sample));
      const double end =
          place_of(seconds(samples_.interval) * static_cast<double>(sample) + seconds(samples_.length(sample)));
      if (std::abs(y - before) > 0.05) absl::StrAppend(&path, absl::StrFormat("L%.1f %.1f", begin, y));
      absl::StrAppend(&path, absl::StrFormat("H%.1f", end));
      before = y;
    }
    const std::string name = name_of(direction);
    const double busy = busy_[direction];
    return absl::StrFormat(
        "<rect class=\"full\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/><path class=\"area h%d\" "
        "d=\"%sV%.1fZ\"><title>%s: %s</title></path><text class=\"row\" x=\"%.1f\" y=\"%.1f\">%s</text><text "
        "class=\"mean\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        labels_, base - kArea, kPlot, kArea, heat_of(busy), path, base, xml_text(name), percent_text(busy),
        labels_ - 10, base - 7, xml_text(routing::fitting_text(name, kMostLabels - 20, kRowPixels)),
        labels_ + kPlot + kValues - 6, base - 7, percent_text(busy));
  }

  std::string cuts(double bottom) const {
    std::string svg;
    for (const sim::CutEffect& effect : report_.prediction.cuts) {
      if (!effect.happened) continue;
      const double x = place_of(seconds(effect.cut.when));
      if (const std::optional<PauseSpan> span = pause_span(effect)) {
        const double begin = place_of(seconds(span->begin - Instant{}));
        const double end = place_of(seconds(span->end - Instant{}));
        absl::StrAppend(&svg, absl::StrFormat("<rect class=\"pause\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                                              "height=\"%.1f\"><title>%s</title></rect>\n",
                                              begin, kTop - 4, end - begin, bottom - kTop + 4,
                                              xml_text(hit_summary(report_, effect))));
      }
      absl::StrAppend(&svg,
                      absl::StrFormat("<path class=\"moment\" d=\"M%.1f %.1fV%.1f\"><title>%s cut</title></path>\n", x,
                                      kTop - 4, bottom, xml_text(wire_text(report_.topology, effect.wire))));
    }
    return svg;
  }

  const SimReport& report_;
  const sim::UseSamples& samples_;
  const double whole_s_;
  const routing::ShortCableNames names_;
  const std::vector<double> busy_;  // by direction, with its wire
  double labels_ = kLeastLabels;    // the width of the rows' names
  std::vector<std::size_t> rows_;   // places in the prediction's cables
};

}  // namespace

std::string timeline_chart(const SimReport& report) {
  if (report.prediction.timeline.count() == 0 || report.prediction.timeline.whole <= Duration::zero()) return "";
  return Timeline(report).text();
}

}  // namespace cableway::cli
