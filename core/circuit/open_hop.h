// One end of a hop whose set-up is done.
#ifndef CABLEWAY_CORE_CIRCUIT_OPEN_HOP_H_
#define CABLEWAY_CORE_CIRCUIT_OPEN_HOP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/circuit/setup_connection.h"
#include "core/circuit/transport.h"

namespace cableway {

struct OpenHop {
  std::unique_ptr<SetupConnection> connection;  // carries its data, or stays open beside the transport
  TransportChoice transport;
  std::uint32_t chunk_bytes = 0;  // the largest chunk that the path accepts from here on
  std::string document = {};      // the answer to a set-up for a view, which has nothing else
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_OPEN_HOP_H_
