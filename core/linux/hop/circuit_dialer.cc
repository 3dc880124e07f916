#include "core/linux/hop/circuit_dialer.h"

#include <iterator>
#include <memory>
#include <utility>

#include "core/linux/os/random_value.h"

namespace cableway::host {

HopDial::Means CircuitDialer::means() {
  return {clock_, connector_, transports_, random_value<Challenge>};
}

void CircuitDialer::dial(const CircuitSetup& setup, const std::optional<SubKey>& key, Done done) {
  const auto place = std::make_shared<std::list<HopDial>::iterator>();
  dials_.emplace_back(means(), setup, key, [this, place, done = std::move(done)](absl::StatusOr<OpenHop> hop) {
    const Done report = done;  // captures are destroyed with the dial
    dials_.erase(*place);
    if (!hop.ok()) return report(hop.status());
    report(release(*std::move(hop)));
  });
  *place = std::prev(dials_.end());
  (*place)->start();
}

}  // namespace cableway::host
