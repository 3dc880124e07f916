#include "tools/collperf/launch/placement.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/text/host_port.h"

namespace cableway::collperf {
namespace {

constexpr char kPlacementExpected[] =
    "; expected -g N for N ranks on this host, --hosts, a launcher (mpirun, srun, torchrun), or --rank, --ranks and "
    "--rendezvous";
constexpr char kRendezvousExpected[] =
    "; expected --rendezvous HOST:PORT of rank 0, or MASTER_ADDR and MASTER_PORT "
    "(mpirun -x MASTER_ADDR=HOST)";

// Below the ports that Linux gives to outgoing connections.
constexpr std::uint32_t kFirstRemotePort = 20000;
constexpr std::uint32_t kRemotePorts = 10000;

absl::Status placement_fault(const std::string& what, const std::string& expected) {
  return absl::InvalidArgumentError(absl::StrCat(what, expected));
}

absl::Status read_rendezvous(const std::string& text, Placement& place) {
  const std::optional<routing::HostPort> given = routing::parse_host_port(text);
  if (!given || !given->port) {
    return placement_fault(absl::StrCat("--rendezvous: '", text, "' is not HOST:PORT or [ADDRESS]:PORT with a port"),
                           " from 1 to 65535");
  }
  place.host = std::string(given->host);
  place.port = *given->port;
  return absl::OkStatus();
}

absl::StatusOr<Placement> check_count(Placement place) {
  if (place.ranks >= 2 && place.ranks <= kMostRanks) return place;
  return placement_fault(absl::StrCat("the run would have ", place.ranks, place.ranks == 1 ? " rank" : " ranks"),
                         absl::StrCat("; expected 2 to ", kMostRanks, ": see -g, --hosts and --ranks"));
}

absl::StatusOr<Placement> place_on_hosts(const PlacementRequest& request, std::uint32_t process_id) {
  Placement place{.local_ranks = 0, .host = {}, .hosts = *request.hosts};
  for (HostSlots& host : place.hosts) {
    if (host.slots == 0) host.slots = request.per_process;
    place.ranks += host.slots;
  }
  if (request.rendezvous.empty()) {
    place.host = address_of(place.hosts.front().host);
    place.port = static_cast<std::uint16_t>(kFirstRemotePort + process_id % kRemotePorts);
  } else if (absl::Status status = read_rendezvous(request.rendezvous, place); !status.ok()) {
    return status;
  }
  return check_count(std::move(place));
}

absl::StatusOr<Placement> place_by_options(const PlacementRequest& request, const EnvironmentLookup& lookup) {
  if (!request.rank || !request.ranks) {
    return placement_fault(request.rank ? "--rank is given without --ranks" : "--ranks is given without --rank",
                           "; expected both, or neither");
  }
  Placement place{
      .rank = *request.rank, .local_ranks = request.per_process, .ranks = *request.ranks, .host = {}, .hosts = {}};
  if (place.rank < 0 || place.rank > place.ranks - place.local_ranks) {
    return placement_fault(absl::StrCat("--rank: ", place.rank, " is not from 0 to ", place.ranks - place.local_ranks,
                                        " (--ranks ", place.ranks, ", -g ", place.local_ranks, ")"),
                           "");
  }
  if (!request.rendezvous.empty()) {
    if (absl::Status status = read_rendezvous(request.rendezvous, place); !status.ok()) return status;
    return check_count(std::move(place));
  }
  const absl::StatusOr<std::optional<Meeting>> meeting = master_address(lookup);
  if (!meeting.ok()) return meeting.status();
  if (!meeting->has_value()) return placement_fault("--rendezvous is missing", kRendezvousExpected);
  place.host = (*meeting)->host;
  place.port = (*meeting)->port;
  return check_count(std::move(place));
}

absl::StatusOr<Placement> place_by_launcher(const PlacementRequest& request, const LaunchedProcess& process) {
  const std::int64_t ranks = std::int64_t{process.size} * request.per_process;
  if (ranks > kMostRanks) {
    return placement_fault(absl::StrCat(process.launcher, " started ", process.size, " processes with ",
                                        request.per_process, " ranks each"),
                           absl::StrCat("; expected at most ", kMostRanks, " ranks"));
  }
  Placement place{.rank = process.rank * request.per_process,
                  .local_ranks = request.per_process,
                  .ranks = static_cast<int>(ranks),
                  .host = process.host.value_or(""),
                  .port = process.port.value_or(0),
                  .hosts = {}};
  if (!request.rendezvous.empty()) {
    if (absl::Status status = read_rendezvous(request.rendezvous, place); !status.ok()) return status;
  } else if (!process.host || (!process.port && process.size > 1)) {
    return placement_fault(absl::StrCat(process.launcher, " does not tell the ", process.host ? "port" : "host",
                                        " at which rank 0 listens"),
                           kRendezvousExpected);
  }
  return check_count(std::move(place));
}

absl::StatusOr<Placement> place_here(const PlacementRequest& request) {
  Placement place{.local_ranks = request.per_process, .ranks = request.per_process, .host = "127.0.0.1", .hosts = {}};
  if (request.rendezvous.empty()) return check_count(std::move(place));
  if (absl::Status status = read_rendezvous(request.rendezvous, place); !status.ok()) return status;
  return check_count(std::move(place));
}

}  // namespace

absl::StatusOr<Placement> place_ranks(const PlacementRequest& request, const EnvironmentLookup& lookup,
                                      std::uint32_t process_id) {
  const bool by_options = request.rank || request.ranks;
  if (request.hosts) {
    if (by_options) return placement_fault("--hosts conflicts with --rank and --ranks", "; expected one of them");
    return place_on_hosts(request, process_id);
  }
  if (by_options) return place_by_options(request, lookup);
  const absl::StatusOr<std::optional<LaunchedProcess>> process = launched_process(lookup);
  if (!process.ok()) return process.status();
  if (process->has_value()) return place_by_launcher(request, **process);
  if (request.per_process == 1) return placement_fault("nothing says where the other ranks run", kPlacementExpected);
  return place_here(request);
}

}  // namespace cableway::collperf
