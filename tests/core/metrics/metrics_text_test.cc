#include "core/metrics/metrics_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace cableway {
namespace {

TEST(MetricsText, IsPrometheusText) {
  MetricsText text;
  text.add(Metric::kPortBytes, {"eth1", "sent"}, std::uint64_t{18446744073709551615U});
  text.add(Metric::kDraining, {}, std::uint64_t{1});
  text.add(Metric::kPortBytes, {"eth1", "received"}, std::uint64_t{0});
  text.add(Metric::kCpu, {}, 12.25);
  EXPECT_EQ(
      text.text(),
      "# HELP cableway_draining 1 while no paths lead through this node, else 0\n"
      "# TYPE cableway_draining gauge\n"
      "cableway_draining 1\n"
      "# HELP cableway_port_bytes_total bytes of the interface, as the kernel counts them: all programs, none over "
      "RDMA\n"
      "# TYPE cableway_port_bytes_total counter\n"
      "cableway_port_bytes_total{interface=\"eth1\",direction=\"sent\"} 18446744073709551615\n"
      "cableway_port_bytes_total{interface=\"eth1\",direction=\"received\"} 0\n"
      "# HELP process_cpu_seconds_total processor time of cablewayd, all threads\n"
      "# TYPE process_cpu_seconds_total counter\n"
      "process_cpu_seconds_total 12.25\n");
}

std::string sample_with(const std::string& label) {
  MetricsText text;
  text.add(Metric::kPortCarrier, {label}, std::uint64_t{1});
  const std::string all = text.text();
  return all.substr(all.find("\ncableway_port_carrier{") + 1);
}

TEST(MetricsText, EscapesLabels) {
  EXPECT_EQ(sample_with(R"(a"b\c)"), "cableway_port_carrier{interface=\"a\\\"b\\\\c\"} 1\n");
  EXPECT_EQ(sample_with("a\nb\xc3\xa4\x01"), "cableway_port_carrier{interface=\"a?b???\"} 1\n");
  EXPECT_EQ(sample_with(std::string("a\0b", 3)), "cableway_port_carrier{interface=\"a?b\"} 1\n");
  EXPECT_LT(sample_with(std::string(100'000, '"')).size(), 1000U);
}

TEST(MetricsText, WritesEveryFiniteNumberExactly) {
  const auto shown = [](double value) {
    MetricsText text;
    text.add(Metric::kStart, {}, value);
    const std::string all = text.text();
    return all.substr(all.rfind(' ') + 1);
  };
  EXPECT_EQ(shown(1764525062.123), "1764525062.123\n");
  EXPECT_EQ(shown(1e-9), "1e-09\n");
  EXPECT_EQ(shown(0.1), "0.1\n");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity()), "NaN\n");
}

TEST(MetricsText, WithoutSamplesIsEmpty) {
  EXPECT_EQ(MetricsText().text(), "");
}

}  // namespace
}  // namespace cableway
