#include "core/linux/hop/transport_table.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/linux/rdma/rdma_transport.h"
#include "core/linux/tcp/tcp_transport.h"

namespace cableway::host {

TransportNegotiator host_transports(const Settings& settings, Idle idle) {
  std::vector<std::unique_ptr<Transport>> table;
  table.push_back(std::make_unique<RdmaTransport>(settings, idle));
  return {std::move(table), make_tcp_end};
}

}  // namespace cableway::host
