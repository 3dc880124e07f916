// Opens one hop of a circuit: connects to where the set-up's current hop leads, sends the set-up, waits for the answer
// that says the rest of the path stands.
#ifndef CABLEWAY_CORE_LINUX_CIRCUIT_DIALER_H_
#define CABLEWAY_CORE_LINUX_CIRCUIT_DIALER_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "core/circuit_setup.h"
#include "core/linux/hop_transports.h"
#include "core/sub_key.h"

namespace cableway::linux_ {

// Called exactly once, on `io`'s thread: this end of the hop, or why there is none. The status names the two nodes, the
// cable and the address of the hop that failed, wherever on the path it is.
using DialDone = std::function<void(absl::StatusOr<HopConnection>)>;

// Everything together takes at most setup.budget_ms. A refused connection is tried again within it if the hop leads to
// a relay, whose daemon may be starting; a process that refuses is gone.
//
// With a key (of KeyUse::kCircuitSetup) the set-up is sealed and the answer must be, too. An end that has another key,
// or no key, fails it at once and is named.
//
// `transports`, which outlives it, says what the hop may go over; null: TCP.
void dial_circuit(boost::asio::io_context& io, CircuitSetup setup, std::optional<SubKey> key, HopTransports* transports,
                  DialDone done);

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_CIRCUIT_DIALER_H_
