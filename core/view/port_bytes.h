// What ports have carried, as views show it.
#ifndef CABLEWAY_CORE_VIEW_PORT_BYTES_H_
#define CABLEWAY_CORE_VIEW_PORT_BYTES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

namespace cableway {

// What an interface has carried since it was created, and its RDMA device; no byte counts in both. nullopt: not known
// (core/linux/ports/port_traffic.h).
struct PortBytes {
  std::optional<std::uint64_t> received = {};
  std::optional<std::uint64_t> sent = {};
  std::optional<std::uint64_t> rdma_received = {};
  std::optional<std::uint64_t> rdma_sent = {};
};

// By interface.
using ReadPortBytes = std::function<std::map<std::string, PortBytes>()>;

// Sets "received_bytes", "sent_bytes", "rdma_received_bytes" and "rdma_sent_bytes", null where not known.
void put_bytes(const PortBytes& bytes, nlohmann::ordered_json& object);
// Sets them in each of `ports`, an array of ports_json(): all null where `read` is null or lacks the interface.
void add_port_bytes(const ReadPortBytes& read, nlohmann::ordered_json& ports);
// The sums of those of `ports` that are known, null where none is, and of which ports they are: a port that goes takes
// its bytes with it, so sums of other ports cannot be compared.
void add_sum_of_port_bytes(const ReadPortBytes& read, const std::set<std::string>& ports, nlohmann::ordered_json& view);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_PORT_BYTES_H_
