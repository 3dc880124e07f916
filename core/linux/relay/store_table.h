// The relay's stores on this host, one for each kind of slot. To add one, add its source and an entry in the table.
#ifndef CABLEWAY_CORE_LINUX_RELAY_STORE_TABLE_H_
#define CABLEWAY_CORE_LINUX_RELAY_STORE_TABLE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/event/event_sink.h"
#include "core/linux/link/relay_store.h"
#include "core/settings/settings.h"

namespace cableway::host {

// `events` must outlive them.
absl::StatusOr<std::vector<std::unique_ptr<RelayStore>>> host_stores(const Settings& settings, EventSink& events);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RELAY_STORE_TABLE_H_
