// The tuner's functions, implemented once, in types independent of the version; the tables of the versions (tuner_v3.cc
// .. tuner_v6.cc) are thin shims over these.
//
// None of them fails, whatever it is passed: NCCL would fail the collective. Where the tuner has no choice, NCCL's
// table stays as it is. Callable from any thread.
#ifndef CABLEWAY_NCCL_ADAPTER_TUNER_TUNER_H_
#define CABLEWAY_NCCL_ADAPTER_TUNER_TUNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/settings/settings.h"
#include "nccl_adapter/abi/tuner_abi.h"

namespace cableway::nccl::tuner {

inline constexpr char kTunerName[] = "Cableway";

// Of one communicator.
struct Communicator {
  TunerSetting cabling = TunerSetting::kOff;
  std::uint64_t ranks = 0;
  std::uint64_t nodes = 0;
};

// Makes NCCL take the chosen algorithm: the costs of the other one of ring and tree become greater than any. Its
// protocol, and all other algorithms, keep NCCL's costs. Nothing changes if NCCL cannot use the chosen one, as where
// NCCL_ALGO excludes it.
void weigh(const Communicator& communicator, abi::Function function, std::uint64_t bytes, float* costs, int algorithms,
           int protocols);

// What the tables share. `id`: NCCL's of the communicator, from version 5 on; only one whose network is Cableway is
// tuned, and before version 5 as tuner_cabling() says. `context` gets the communicator, or null, which leaves all to
// NCCL. It is constant data, so no rank lacks the memory for it.
abi::Result init(std::optional<std::uint64_t> id, std::size_t ranks, std::size_t nodes, abi::Logger logger,
                 void** context);
abi::Result get_coll_info(void* context, abi::Function function, std::size_t bytes, float** costs, int algorithms,
                          int protocols);
abi::Result finalize(void* context);

}  // namespace cableway::nccl::tuner

#endif  // CABLEWAY_NCCL_ADAPTER_TUNER_TUNER_H_
