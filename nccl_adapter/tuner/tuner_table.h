// The common part of the tables of the versions of NCCL's tuner interface.
#ifndef CABLEWAY_NCCL_ADAPTER_TUNER_TUNER_TABLE_H_
#define CABLEWAY_NCCL_ADAPTER_TUNER_TUNER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "nccl_adapter/tuner/tuner.h"

namespace cableway::nccl {

// Up to version 4 NCCL does not tell which communicator it is.
inline abi::Result init_without_id(std::size_t ranks, std::size_t nodes, abi::Logger logger, void** context) {
  return tuner::init(std::nullopt, ranks, nodes, logger, context);
}

// From version 4 on NCCL tells whether the buffers are registered.
inline abi::Result get_coll_info_registered(void* context, abi::Function function, std::size_t bytes, int,
                                            float** costs, int algorithms, int protocols, int, int*) {
  return tuner::get_coll_info(context, function, bytes, costs, algorithms, protocols);
}

// The whole table of version 5 or 6; functions that NCCL need not have are null.
template <typename Tuner>
constexpr Tuner table_with_comm_id() {
  Tuner table{};
  table.name = tuner::kTunerName;
  table.init = [](void** context, std::uint64_t id, std::size_t ranks, std::size_t nodes, abi::Logger logger,
                  abi::NvlinkDomains*, abi::TunerConstants*) { return tuner::init(id, ranks, nodes, logger, context); };
  table.getCollInfo = get_coll_info_registered;
  table.finalize = tuner::finalize;
  return table;
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_TUNER_TUNER_TABLE_H_
