// Samples of metrics in Prometheus' text format 0.0.4.
#ifndef CABLEWAY_CORE_METRICS_METRICS_TEXT_H_
#define CABLEWAY_CORE_METRICS_METRICS_TEXT_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/metrics/metric_table.h"

namespace cableway {

// One thread.
//
//   MetricsText text;
//   text.add(Metric::kPortBytes, {"eth1", "sent"}, std::uint64_t{42});
//   send(text.text());
class MetricsText {
 public:
  // `labels`: as many values as the family has labels, in its order; any bytes, of which those that are not printable
  // ASCII are replaced. The same labels are added once.
  void add(Metric metric, std::initializer_list<std::string_view> labels, std::uint64_t value);
  void add(Metric metric, std::initializer_list<std::string_view> labels, double value);

  // All samples, by family in the order of the table. A family without samples is left out.
  std::string text() const;

 private:
  void add_sample(Metric metric, std::initializer_list<std::string_view> labels, std::string_view value);

  std::array<std::string, kMetrics> samples_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_METRICS_METRICS_TEXT_H_
