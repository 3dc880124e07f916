// The name of this network, by which NCCL_NET chooses it.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_NETWORK_NAME_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_NETWORK_NAME_H_

#include "absl/strings/match.h"

namespace cableway::nccl {

inline constexpr char kNetworkName[] = "Cableway";

// Whether NCCL_NET (`net`, null: not set) names another network than this one. NCCL compares without regard to case.
inline bool names_another_network(const char* net) {
  return net != nullptr && !absl::EqualsIgnoreCase(net, kNetworkName);
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_NETWORK_NAME_H_
