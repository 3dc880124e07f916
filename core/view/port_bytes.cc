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

void put_bytes(const PortBytes& bytes, nlohmann::ordered_json& object) {
  object["received_bytes"] = bytes_or_null(bytes.received);
  object["sent_bytes"] = bytes_or_null(bytes.sent);
  object["rdma_received_bytes"] = bytes_or_null(bytes.rdma_received);
  object["rdma_sent_bytes"] = bytes_or_null(bytes.rdma_sent);
}

void add_port_bytes(const ReadPortBytes& read, nlohmann::ordered_json& ports) {
  const std::map<std::string, PortBytes> bytes = read ? read() : std::map<std::string, PortBytes>();
  for (nlohmann::ordered_json& port : ports) {
    const auto found = bytes.find(port.at("interface").get<std::string>());
    put_bytes(found != bytes.end() ? found->second : PortBytes{}, port);
  }
}

void add_sum_of_port_bytes(const ReadPortBytes& read, const std::set<std::string>& ports,
                           nlohmann::ordered_json& view) {
  PortBytes sum;
  nlohmann::ordered_json counted = nlohmann::ordered_json::array();
  nlohmann::ordered_json rdma_counted = nlohmann::ordered_json::array();
  for (const auto& [interface, bytes] : read ? read() : std::map<std::string, PortBytes>()) {
    if (!ports.contains(interface)) continue;
    add_to(sum.received, bytes.received);
    add_to(sum.sent, bytes.sent);
    add_to(sum.rdma_received, bytes.rdma_received);
    add_to(sum.rdma_sent, bytes.rdma_sent);
    counted.push_back(interface);
    if (bytes.rdma_received || bytes.rdma_sent) rdma_counted.push_back(interface);
  }
  put_bytes(sum, view);
  view["counted_ports"] = std::move(counted);
  view["rdma_counted_ports"] = std::move(rdma_counted);
}

}  // namespace cableway
