// NCCL's tuner interface, versions 3 to 6: what its core asks a tuner before each collective.
//
// As in net_abi_types.h, these declarations describe a binary interface that NCCL defines. Unlike in the net tables,
// the symbol of each version is found beside the older ones, and NCCL takes the newest: 2.22 and 2.23 take version 3,
// 2.24 to 2.27 version 4, 2.28 and 2.29 version 5, 2.30 version 6.
//
// The table of costs is passed as float**, but is one array of floats, `algorithms` rows of `protocols` entries: the
// predicted times in us. NCCL fills it in before the call, with kCostNotAvailable where it cannot use a pair, and takes
// the pair with the least time afterwards. All ranks of a communicator must take the same one: NCCL hangs otherwise.
// NCCL's header promises that it ignores a call that fails; its code fails the collective.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_TUNER_ABI_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_TUNER_ABI_H_

#include <cstddef>
#include <cstdint>

#include "nccl_adapter/abi/net_abi_types.h"

namespace cableway::nccl::abi {

// Rows (Algorithm) and columns (Protocol) of the table of costs in versions 3 to 6; NCCL passes the numbers.
inline constexpr int kAlgorithms = 7;
inline constexpr int kProtocols = 3;
inline constexpr float kCostNotAvailable = -1.0F;

// Facts and constants of NCCL's own model, which Cableway's tuner does not read.
struct NvlinkDomains;
struct TunerConstants;

struct TunerV3 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger logger, void** context);
  Result (*getCollInfo)(void* context, Function function, std::size_t bytes, int pipelined, float** costs,
                        int algorithms, int protocols, int* channels);
  Result (*destroy)(void* context);
};
static_assert(sizeof(TunerV3) == 32 && kIsPlainData<TunerV3>);
static_assert(offsetof(TunerV3, name) == 0 && offsetof(TunerV3, init) == 8);
static_assert(offsetof(TunerV3, getCollInfo) == 16 && offsetof(TunerV3, destroy) == 24);

struct TunerV4 {
  const char* name;
  Result (*init)(std::size_t ranks, std::size_t nodes, Logger logger, void** context);
  Result (*getCollInfo)(void* context, Function function, std::size_t bytes, int pipelined, float** costs,
                        int algorithms, int protocols, int registered, int* channels);
  Result (*destroy)(void* context);
};
static_assert(sizeof(TunerV4) == 32 && kIsPlainData<TunerV4>);
static_assert(offsetof(TunerV4, name) == 0 && offsetof(TunerV4, init) == 8);
static_assert(offsetof(TunerV4, getCollInfo) == 16 && offsetof(TunerV4, destroy) == 24);

struct TunerV5 {
  const char* name;
  Result (*init)(void** context, std::uint64_t comm_id, std::size_t ranks, std::size_t nodes, Logger logger,
                 NvlinkDomains* domains, TunerConstants* constants);
  Result (*getCollInfo)(void* context, Function function, std::size_t bytes, int pipelined, float** costs,
                        int algorithms, int protocols, int registered, int* channels);
  Result (*finalize)(void* context);
};
static_assert(sizeof(TunerV5) == 32 && kIsPlainData<TunerV5>);
static_assert(offsetof(TunerV5, name) == 0 && offsetof(TunerV5, init) == 8);
static_assert(offsetof(TunerV5, getCollInfo) == 16 && offsetof(TunerV5, finalize) == 24);

struct TunerV6 {
  const char* name;
  Result (*init)(void** context, std::uint64_t comm_id, std::size_t ranks, std::size_t nodes, Logger logger,
                 NvlinkDomains* domains, TunerConstants* constants);
  Result (*getCollInfo)(void* context, Function function, std::size_t bytes, int pipelined, float** costs,
                        int algorithms, int protocols, int registered, int* channels);
  Result (*finalize)(void* context);
  Result (*getChunkSize)(void* context, Function function, std::size_t bytes, int algorithm, int protocol, int channels,
                         std::size_t* chunk_bytes);  // may be null
};
static_assert(sizeof(TunerV6) == 40 && kIsPlainData<TunerV6>);
static_assert(offsetof(TunerV6, name) == 0 && offsetof(TunerV6, init) == 8);
static_assert(offsetof(TunerV6, getCollInfo) == 16 && offsetof(TunerV6, finalize) == 24);
static_assert(offsetof(TunerV6, getChunkSize) == 32);

}  // namespace cableway::nccl::abi

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_TUNER_ABI_H_
