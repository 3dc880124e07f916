#include "tools/cableway/sim/timeline_chart.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/picture/xml_text.h"
#include "tools/cableway/sim/cable_map.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

// Pixels.
constexpr double kLabels = 190;
constexpr double kPlot = 760;
constexpr double kValues = 70;
constexpr double kRow = 34;
constexpr double kArea = 24;  // of a row, at 100 %
constexpr double kTop = 8;
constexpr double kAxis = 34;
constexpr double kWidth = kLabels + kPlot + kValues;

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
      : report_(report), samples_(report.prediction.timeline), whole_s_(seconds(samples_.whole)) {
    rows_.reserve(report.prediction.cables.size());
    for (std::size_t i = 0; i < report.prediction.cables.size(); ++i) rows_.push_back(i);
    const auto& cables = report.prediction.cables;
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::size_t left, std::size_t right) {
      return cables[left].utilisation > cables[right].utilisation;
    });
    rows_.resize(std::min(rows_.size(), kTimelineRows));
    while (rows_.size() > 1 && heat_of(cables[rows_.back()].utilisation) == 0) rows_.pop_back();
  }

  std::string text() const {
    const double height = kTop + kRow * static_cast<double>(rows_.size()) + kAxis;
    std::string svg = absl::StrFormat(
        "<svg class=\"timeline\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"utilisation over "
        "time\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
        kWidth, height, kWidth, height);
    absl::StrAppend(&svg, axis(height - kAxis));
    for (std::size_t row = 0; row < rows_.size(); ++row) absl::StrAppend(&svg, area(row));
    return absl::StrCat(svg, cuts(height - kAxis), "</svg>\n");
  }

 private:
  double place_of(double time_s) const { return kLabels + kPlot * std::min(time_s / whole_s_, 1.0); }

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

  double utilisation(std::size_t sample, std::size_t direction) const {
    const routing::CableIndex cable = report_.prediction.cables[direction].cable;
    const double rate = static_cast<double>(report_.topology.cable(cable).rate_mbps) * 125'000;
    const double most = rate * seconds(samples_.length(sample));
    return most > 0 ? std::min(static_cast<double>(samples_.at(sample, direction)) / most, 1.0) : 0;
  }

  std::string area(std::size_t row) const {
    const std::size_t direction = rows_[row];
    const sim::CableLoad& load = report_.prediction.cables[direction];
    const double base = kTop + kRow * static_cast<double>(row + 1) - 4;
    std::string path = absl::StrFormat("M%.1f %.1f", kLabels, base);
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
    const std::string name = absl::StrCat(report_.topology.cable(load.cable).name, "  ",
                                          direction_text(report_.topology, load.cable, load.from_a));
    return absl::StrFormat(
        "<rect class=\"full\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/><path class=\"area h%d\" "
        "d=\"%sV%.1fZ\"><title>%s: %s</title></path><text class=\"row\" x=\"%.1f\" y=\"%.1f\">%s</text><text "
        "class=\"mean\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        kLabels, base - kArea, kPlot, kArea, heat_of(load.utilisation), path, base, xml_text(name),
        percent_text(load.utilisation), kLabels - 10, base - 7, xml_text(name), kWidth - 6, base - 7,
        percent_text(load.utilisation));
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
  std::vector<std::size_t> rows_;  // places in the prediction's cables
};

}  // namespace

std::string timeline_chart(const SimReport& report) {
  if (report.prediction.timeline.count() == 0 || report.prediction.timeline.whole <= Duration::zero()) return "";
  return Timeline(report).text();
}

}  // namespace cableway::cli
