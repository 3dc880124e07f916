#include "core/linux/rdma/verbs_connection.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

// A neighbour is one cable away.
constexpr std::uint8_t kHopLimit = 1;
// RNR timer: how long the other end waits after finding no receive buffer for its notice; code 12 is 0.64 ms.
constexpr std::uint8_t kRnrTimer = 12;
// RNR retries: code 7 is unlimited.
constexpr std::uint8_t kRnrRetries = 7;

absl::Status range(absl::string_view what, int value, int least, int most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", value, "; expected ", least, " to ", most));
}

ibv_mtu mtu_code(std::uint32_t bytes) {
  return static_cast<ibv_mtu>(std::countr_zero(bytes) - 7);
}

absl::Status ready_to_receive(const VerbsDevice& device, ibv_qp& pair, std::uint32_t mtu, const RdmaEndpoint& other,
                              const VerbsGid& gid, const VerbsOptions& options) {
  ibv_qp_attr wanted{};
  wanted.qp_state = IBV_QPS_RTR;
  wanted.path_mtu = mtu_code(mtu);
  wanted.dest_qp_num = other.queue_pair;
  wanted.rq_psn = other.packet_sequence;
  wanted.max_dest_rd_atomic = 1;
  wanted.min_rnr_timer = kRnrTimer;
  wanted.ah_attr.is_global = 1;
  wanted.ah_attr.port_num = gid.port;
  wanted.ah_attr.sl = options.service_level;
  wanted.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid.index);
  wanted.ah_attr.grh.hop_limit = kHopLimit;
  wanted.ah_attr.grh.traffic_class = options.traffic_class;
  std::memcpy(wanted.ah_attr.grh.dgid.raw, other.gid.data(), other.gid.size());
  constexpr int kWhat = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  const int error = device.library().modify_qp(&pair, &wanted, kWhat);
  return error == 0 ? absl::OkStatus() : device.refused(error, "find the neighbour's port, or join its queue pair");
}

absl::Status ready_to_send(const VerbsDevice& device, ibv_qp& pair, std::uint32_t packet_sequence,
                           const VerbsOptions& options) {
  ibv_qp_attr wanted{};
  wanted.qp_state = IBV_QPS_RTS;
  wanted.timeout = options.timeout;
  wanted.retry_cnt = options.retry_count;
  wanted.rnr_retry = kRnrRetries;
  wanted.sq_psn = packet_sequence;
  wanted.max_rd_atomic = 1;
  constexpr int kWhat =
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
  const int error = device.library().modify_qp(&pair, &wanted, kWhat);
  return error == 0 ? absl::OkStatus() : device.refused(error, "make a queue pair send");
}

absl::Status reset(const VerbsDevice& device, ibv_qp& pair) {
  ibv_qp_attr wanted{};
  wanted.qp_state = IBV_QPS_RESET;
  const int error = device.library().modify_qp(&pair, &wanted, IBV_QP_STATE);
  return error == 0 ? absl::OkStatus() : device.refused(error, "reset a queue pair");
}

absl::Status initialise(const VerbsDevice& device, ibv_qp& pair, const VerbsGid& gid, unsigned access) {
  ibv_qp_attr wanted{};
  wanted.qp_state = IBV_QPS_INIT;
  wanted.pkey_index = 0;
  wanted.port_num = gid.port;
  wanted.qp_access_flags = access;
  constexpr int kWhat = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  const int error = device.library().modify_qp(&pair, &wanted, kWhat);
  return error == 0 ? absl::OkStatus() : device.refused(error, "initialise a queue pair");
}

absl::Status join_by(const VerbsDevice& device, ibv_qp& pair, const VerbsJoin& join, const VerbsGid& gid,
                     const VerbsOptions& options) {
  if (absl::Status status = initialise(device, pair, gid, join.access); !status.ok()) return status;
  if (join.receive) {
    if (absl::Status status = join.receive(); !status.ok()) return status;
  }
  const std::uint32_t mtu = std::min(join.own.mtu, join.other.mtu);
  if (absl::Status status = ready_to_receive(device, pair, mtu, join.other, gid, options); !status.ok()) return status;
  return ready_to_send(device, pair, join.own.packet_sequence, options);
}

}  // namespace

VerbsOptions verbs_options(const Settings& settings) {
  return {settings.rdma_service_level, settings.rdma_traffic_class, settings.rdma_timeout, settings.rdma_retries};
}

absl::Status check_options(const VerbsGid& gid, const VerbsOptions& options) {
  if (absl::Status status = range("GID index", gid.index, 0, 255); !status.ok()) return status;
  if (absl::Status status = range("RDMA service level", options.service_level, 0, 7); !status.ok()) return status;
  if (absl::Status status = range("RDMA timeout", options.timeout, 1, 31); !status.ok()) return status;
  return range("RDMA retry count", options.retry_count, 0, 7);
}

absl::Status join_queue_pair(const VerbsDevice& device, ibv_qp& pair, const VerbsJoin& join, VerbsGid& gid,
                             const VerbsOptions& options) {
  constexpr int kTries = 2;
  for (int tried = 1;; ++tried) {
    absl::StatusOr<VerbsGid> before = device.find_gid(gid);
    if (!before.ok()) return before.status();
    gid = *before;
    absl::Status joined = join_by(device, pair, join, gid, options);
    // The device is given only the index, so an entry that took that index in between would be used instead.
    const absl::StatusOr<VerbsGid> after = device.find_gid(gid);
    if (!after.ok()) return after.status();
    if (after->index == gid.index) return joined;
    if (tried == kTries) {
      return absl::UnavailableError(
          absl::StrCat("the GIDs of RDMA device ", device.name(), " kept changing while a queue pair was connected"));
    }
    if (absl::Status status = reset(device, pair); !status.ok()) return status;
  }
}

}  // namespace cableway::host
