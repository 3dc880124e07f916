#include "core/linux/relay/store_table.h"

#include <utility>

#include "core/linux/relay/rdma_relay_memory.h"
#include "core/linux/tcp/pipe_store.h"

namespace cableway::host {
namespace {

constexpr MakeRelayStore kStores[] = {make_pipe_store, make_rdma_relay_memory};

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<RelayStore>>> host_stores(const Settings& settings, EventSink& events) {
  std::vector<std::unique_ptr<RelayStore>> stores;
  for (const MakeRelayStore make : kStores) {
    absl::StatusOr<std::unique_ptr<RelayStore>> store = make(settings, events);
    if (!store.ok()) return store.status();
    stores.push_back(*std::move(store));
  }
  return stores;
}

}  // namespace cableway::host
