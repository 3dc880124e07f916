#include "core/circuit/circuit_events.h"

#include "absl/strings/str_cat.h"
#include "core/circuit/hop_names.h"
#include "routing/text/node_name.h"

namespace cableway {

std::string circuit_text(const CircuitSetup& setup) {
  constexpr std::size_t kMaxDescription = 512;
  std::string path = describe_path(setup);
  return path.size() <= kMaxDescription ? path : nodes_on_path(setup);
}

EventFields circuit_fields(const CircuitSetup& setup) {
  return {{"path", nodes_on_path(setup)},
          {"flow", flow_text(setup.flow)},
          {"from", setup.from_node},
          {"to", setup.hops.back().to_node}};
}

EventFields circuit_fields(const CircuitSetup& setup, const absl::Status& reason) {
  EventFields fields = circuit_fields(setup);
  fields.push_back({"reason", std::string(reason.message())});
  return fields;
}

std::string reason_text(const absl::Status& reason) {
  return routing::in_quotes({reason.message().data(), reason.message().size()}, reason.message().size());
}

std::string flow_text(std::uint64_t flow) {
  return absl::StrCat(absl::Hex(flow, absl::kZeroPad16));
}

}  // namespace cableway
