#include "core/view/port_bytes.h"

#include <nlohmann/json.hpp>

namespace cableway {
namespace {

nlohmann::ordered_json bytes_or_null(const std::optional<std::uint64_t>& bytes) {
  return bytes ? nlohmann::ordered_json(*bytes) : nlohmann::ordered_json(nullptr);
}

}  // namespace

void add_port_bytes(const ReadPortBytes& read, nlohmann::ordered_json& ports) {
  const std::map<std::string, PortBytes> bytes = read ? read() : std::map<std::string, PortBytes>();
  for (nlohmann::ordered_json& port : ports) {
    const auto found = bytes.find(port.at("interface").get<std::string>());
    const bool known = found != bytes.end();
    port["received_bytes"] = bytes_or_null(known ? std::optional(found->second.received) : std::nullopt);
    port["sent_bytes"] = bytes_or_null(known ? std::optional(found->second.sent) : std::nullopt);
    port["rdma_received_bytes"] = bytes_or_null(known ? found->second.rdma_received : std::nullopt);
    port["rdma_sent_bytes"] = bytes_or_null(known ? found->second.rdma_sent : std::nullopt);
  }
}

}  // namespace cableway
