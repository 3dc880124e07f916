#include "core/metrics/metrics_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "core/printable.h"
#include "routing/text/absl_view.h"

namespace cableway {
namespace {

using routing::absl_view;

constexpr std::size_t kMaxLabelBytes = 256;

std::string escaped_label(std::string_view value) {
  std::string escaped;
  for (const char c : printable(value, kMaxLabelBytes)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// The part before the first comma of `labels`, which loses it.
std::string_view next_label(std::string_view& labels) {
  const std::size_t comma = labels.find(',');
  const std::string_view label = labels.substr(0, comma);
  labels.remove_prefix(comma == std::string_view::npos ? labels.size() : comma + 1);
  return label;
}

}  // namespace

void MetricsText::add(Metric metric, std::initializer_list<std::string_view> labels, std::uint64_t value) {
  add_sample(metric, labels, absl::StrCat(value));
}

void MetricsText::add(Metric metric, std::initializer_list<std::string_view> labels, double value) {
  if (!std::isfinite(value)) return add_sample(metric, labels, "NaN");
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  add_sample(metric, labels, {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

void MetricsText::add_sample(Metric metric, std::initializer_list<std::string_view> labels, std::string_view value) {
  const MetricFamily& family = family_of(metric);
  std::string& samples = samples_[static_cast<std::size_t>(metric)];
  absl::StrAppend(&samples, absl_view(family.name));
  std::string_view names = family.labels;
  const char* joint = "{";
  for (const std::string_view label : labels) {
    absl::StrAppend(&samples, joint, absl_view(next_label(names)), "=\"", escaped_label(label), "\"");
    joint = ",";
  }
  absl::StrAppend(&samples, labels.size() == 0 ? " " : "} ", absl_view(value), "\n");
}

std::string MetricsText::text() const {
  std::string text;
  for (const MetricFamily& family : metric_families()) {
    const std::string& samples = samples_[static_cast<std::size_t>(family.metric)];
    if (samples.empty()) continue;
    absl::StrAppend(&text, "# HELP ", absl_view(family.name), " ", absl_view(family.help), "\n# TYPE ",
                    absl_view(family.name), " ", absl_view(name_of(family.kind)), "\n", samples);
  }
  return text;
}

}  // namespace cableway
