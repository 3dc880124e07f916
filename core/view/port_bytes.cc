#include "core/view/port_bytes.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace cableway {
namespace {

nlohmann::ordered_json bytes_or_null(const std::optional<std::uint64_t>& bytes) {
  return bytes ? nlohmann::ordered_json(*bytes) : nlohmann::ordered_json(nullptr);
}

void add_to(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& bytes) {
  if (bytes) sum = sum.value_or(0) + *bytes;
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

void add_sum_of_port_bytes(const ReadPortBytes& read, const std::set<std::string>& ports,
                           nlohmann::ordered_json& view) {
  std::optional<std::uint64_t> received;
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> rdma_received;
  std::optional<std::uint64_t> rdma_sent;
  nlohmann::ordered_json counted = nlohmann::ordered_json::array();
  nlohmann::ordered_json rdma_counted = nlohmann::ordered_json::array();
  for (const auto& [interface, bytes] : read ? read() : std::map<std::string, PortBytes>()) {
    if (!ports.contains(interface)) continue;
    add_to(received, bytes.received);
    add_to(sent, bytes.sent);
    add_to(rdma_received, bytes.rdma_received);
    add_to(rdma_sent, bytes.rdma_sent);
    counted.push_back(interface);
    if (bytes.rdma_received || bytes.rdma_sent) rdma_counted.push_back(interface);
  }
  view["received_bytes"] = bytes_or_null(received);
  view["sent_bytes"] = bytes_or_null(sent);
  view["rdma_received_bytes"] = bytes_or_null(rdma_received);
  view["rdma_sent_bytes"] = bytes_or_null(rdma_sent);
  view["counted_ports"] = std::move(counted);
  view["rdma_counted_ports"] = std::move(rdma_counted);
}

}  // namespace cableway
