// Measures the simulator's speed: one workload on one topology, predicted chunk by chunk. A crossing is one chunk that
// crosses one cable, through the real flow ends and relays. Prints one JSON object.
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "routing/shapes/topology_generator.h"
#include "routing/text/json_schema.h"
#include "sim/prediction/prediction.h"
#include "sim/workload/workload_text.h"
#include "tools/bench/cpu_seconds.h"

namespace cableway {
namespace {

int refuse(const absl::Status& status) {
  std::cerr << "crossings: " << status.message() << "\n";
  return 2;
}

int predict(const std::string& spec, std::string_view workload_text) {
  const absl::StatusOr<routing::Topology> topology = routing::generate_topology(spec);
  if (!topology.ok()) return refuse(topology.status());
  const absl::StatusOr<workload::SizedWorkload> workload = workload::parse_workload(workload_text);
  if (!workload.ok()) return refuse(workload.status());

  sim::PredictionRequest request;
  request.workload = workload->workload;
  request.size = workload->size;
  for (std::uint32_t node = 0; node < topology->node_count(); ++node) request.ranks.push_back({node});
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<sim::Prediction> prediction = sim::predict(*topology, request);
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!prediction.ok()) return refuse(prediction.status());
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double cpu_s = cpu_seconds(usage) - cpu_seconds(before);
  std::cout << nlohmann::ordered_json{{routing::kSchemaMember, routing::kJsonSchema},
                                      {"spec", spec},
                                      {"workload", workload_text},
                                      {"chunk_bytes", request.circuits.chunk_bytes},
                                      {"ranks", request.ranks.size()},
                                      {"flows", prediction->flows},
                                      {"crossings", prediction->crossings},
                                      {"happenings", prediction->occurrences},
                                      {"predicted_s", prediction->time_s},
                                      {"wall_s", wall_s},
                                      {"cpu_s", cpu_s},
                                      {"crossings_per_cpu_s", static_cast<double>(prediction->crossings) / cpu_s},
                                      {"memory_mb", static_cast<double>(usage.ru_maxrss) / 1024}}
            << "\n";
  return 0;
}

}  // namespace
}  // namespace cableway

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: crossings SPEC WORKLOAD, for example ring:64 all_reduce:1GiB\n";
    return 2;
  }
  return cableway::predict(argv[1], argv[2]);
}
