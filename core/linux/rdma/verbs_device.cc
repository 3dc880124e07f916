#include "core/linux/rdma/verbs_device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxDeviceGids = 4096;
constexpr std::uint32_t kMaxGidIndex = 255;  // the largest that a queue pair accepts

std::string error_text(int error) {
  return std::generic_category().message(error);
}

absl::Status cannot_open(const std::string& name, int error) {
  const std::string words = absl::StrCat("RDMA device ", name, " cannot be opened: ", error_text(error));
  // A missing device-cgroup rule is reported as EPERM.
  if (error == EACCES) {
    return absl::PermissionDeniedError(
        absl::StrCat(words, "; this user needs read and write access to /dev/infiniband/uverbs*"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      words, "; a container needs the host's /dev/infiniband and a device rule (cableway env --docker prints both)"));
}

absl::StatusOr<VerbsOwned<ibv_context>> open_context(const VerbsLibrary& library, const std::string& name) {
  int count = 0;
  const VerbsOwned<ibv_device*> list(library.get_device_list(&count), VerbsRelease{&library});
  if (list == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("this host's RDMA devices cannot be listed: ", error_text(errno),
                                                      "; is the kernel's ib_uverbs module loaded?"));
  }
  for (int i = 0; i < count; ++i) {
    ibv_device* const device = list.get()[i];
    if (name != library.get_device_name(device)) continue;
    VerbsOwned<ibv_context> context(library.open_device(device), VerbsRelease{&library});
    if (context == nullptr) return cannot_open(name, errno);
    return context;
  }
  return absl::NotFoundError(absl::StrCat("libibverbs has no RDMA device ", name,
                                          ": its provider is missing (Debian: ibverbs-providers), or the kernel's "
                                          "ib_uverbs module is not loaded"));
}

VerbsEvent::Kind event_kind(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_PORT_ERR:
      return VerbsEvent::Kind::kPortError;
    case IBV_EVENT_PORT_ACTIVE:
      return VerbsEvent::Kind::kPortActive;
    case IBV_EVENT_DEVICE_FATAL:
      return VerbsEvent::Kind::kDeviceFatal;
    case IBV_EVENT_GID_CHANGE:
      return VerbsEvent::Kind::kGidChange;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_CQ_ERR:
      return VerbsEvent::Kind::kQueueFatal;
    default:
      return VerbsEvent::Kind::kOther;
  }
}

const void* queue_of(const ibv_async_event& event) {
  if (event.event_type == IBV_EVENT_CQ_ERR) return event.element.cq;
  return event.element.qp;
}

bool is_of_a_port(VerbsEvent::Kind kind) {
  return kind == VerbsEvent::Kind::kPortError || kind == VerbsEvent::Kind::kPortActive ||
         kind == VerbsEvent::Kind::kGidChange;
}

}  // namespace

VerbsDevice::VerbsDevice(std::string name, const VerbsLibrary* library, VerbsOwned<ibv_context> context)
    : name_(std::move(name)),
      library_(library),
      context_(std::move(context)),
      commands_(context_->cmd_fd, OwnDescriptor::Mapped::kYes),
      events_(context_->async_fd),
      domain_(library->alloc_pd(context_.get()), VerbsRelease{library}) {}

absl::StatusOr<std::shared_ptr<VerbsDevice>> VerbsDevice::open(const std::string& name) {
  const absl::StatusOr<const VerbsLibrary*> library = VerbsLibrary::of_this_process();
  if (!library.ok()) return library.status();
  return open(name, **library);
}

absl::StatusOr<std::shared_ptr<VerbsDevice>> VerbsDevice::open(const std::string& name, const VerbsLibrary& library) {
  absl::StatusOr<VerbsOwned<ibv_context>> context = open_context(library, name);
  if (!context.ok()) return context.status();
  std::shared_ptr<VerbsDevice> device(new VerbsDevice(name, &library, *std::move(context)));
  if (absl::Status status = device->prepare(); !status.ok()) return status;
  return device;
}

absl::Status VerbsDevice::prepare() {
  if (domain_ == nullptr) return refused(errno, "create a protection domain");
  if (const int error = library_->query_device(context(), &attributes_); error != 0) {
    return refused(error, "report its attributes");
  }
  const int flags = ::fcntl(events_fd(), F_GETFL);
  if (flags == -1 || ::fcntl(events_fd(), F_SETFL, flags | O_NONBLOCK) == -1) {
    return refused(errno, "report events without blocking");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint32_t> VerbsDevice::active_mtu(std::uint8_t number) const {
  ibv_port_attr port{};
  const std::uint64_t errors = port_errors_.load(std::memory_order_relaxed);
  if (const int error = library_->query_port(context(), number, &port); error != 0) {
    return refused(error, absl::StrCat("report the state of port ", number));
  }
  if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
    return absl::FailedPreconditionError(
        absl::StrCat("RDMA device ", name_, " is on InfiniBand; Cableway uses only RDMA over Ethernet (RoCE v2)"));
  }
  if (port.state != IBV_PORT_ACTIVE) {
    return absl::FailedPreconditionError(absl::StrCat("RDMA device ", name_, " is not active: its port is in state ",
                                                      static_cast<int>(port.state), ", not 4"));
  }
  if (port.active_mtu < IBV_MTU_256 || port.active_mtu > IBV_MTU_4096) {
    return absl::FailedPreconditionError(absl::StrCat("RDMA device ", name_, " has the unknown MTU number ",
                                                      static_cast<int>(port.active_mtu), "; expected 1 to 5"));
  }
  note_active_port(number, errors);
  return 128U << static_cast<unsigned>(port.active_mtu);
}

absl::StatusOr<std::vector<ibv_gid_entry>> VerbsDevice::read_gids(std::uint8_t number) const {
  ibv_port_attr port{};
  if (const int error = library_->query_port(context(), number, &port); error != 0) {
    return refused(error, absl::StrCat("report the GIDs of port ", number));
  }
  const std::size_t entries = static_cast<std::size_t>(std::max(port.gid_tbl_len, 0)) * attributes_.phys_port_cnt;
  // The kernel rejects a list that the entries fill completely.
  std::vector<ibv_gid_entry> gids(std::min(entries, kMaxDeviceGids) + 1);
  const ssize_t found = library_->query_gid_table(context(), gids.data(), gids.size(), 0, sizeof gids[0]);
  if (found < 0) return refused(static_cast<int>(-found), "report its GIDs");
  gids.resize(static_cast<std::size_t>(found));
  return gids;
}

absl::StatusOr<VerbsGid> VerbsDevice::find_gid(const VerbsGid& gid) const {
  VerbsGid found = gid;
  if (library_->query_gid_table == nullptr) {
    ibv_gid now{};
    const bool is_there = library_->query_gid(context(), gid.port, gid.index, &now) == 0;
    if (is_there && std::memcmp(now.raw, gid.bytes.data(), gid.bytes.size()) == 0) return found;
  } else {
    const absl::StatusOr<std::vector<ibv_gid_entry>> gids = read_gids(gid.port);
    if (!gids.ok()) return gids.status();
    for (const ibv_gid_entry& entry : *gids) {
      const bool is_of_port = entry.gid_type == IBV_GID_TYPE_ROCE_V2 && entry.port_num == gid.port;
      const bool is_of_interface = gid.interface == 0 || entry.ndev_ifindex == 0 || entry.ndev_ifindex == gid.interface;
      if (!is_of_port || !is_of_interface || entry.gid_index > kMaxGidIndex) continue;
      if (std::memcmp(entry.gid.raw, gid.bytes.data(), gid.bytes.size()) != 0) continue;
      found.index = static_cast<int>(entry.gid_index);
      return found;
    }
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, gid.bytes.data(), text.data(), text.size());
  return absl::FailedPreconditionError(absl::StrCat("RDMA device ", name_, " has no RoCE v2 GID ", text.data(),
                                                    " any more; the port's address may have been removed"));
}

bool VerbsDevice::supports_dmabuf() const {
  if (library_->reg_dmabuf_mr == nullptr) return false;
  // An invalid descriptor: if the kernel rejects it for that, dmabufs are supported.
  const VerbsOwned<ibv_mr> region(library_->reg_dmabuf_mr(domain(), 0, 0, 0, -1, 0), release());
  return region != nullptr || (errno != EOPNOTSUPP && errno != EPROTONOSUPPORT);
}

int VerbsDevice::events_fd() const {
  return context_->async_fd;
}

std::optional<VerbsEvent> VerbsDevice::next_event() {
  ibv_async_event event{};
  errno = 0;
  if (library_->get_async_event(context(), &event) != 0) {
    const int error = errno;
    if (error == EAGAIN || error == EINTR || is_lost()) return std::nullopt;
    give_up();
    VerbsEvent gone{.kind = VerbsEvent::Kind::kDeviceFatal,
                    .words = absl::StrCat("RDMA device ", name_, ": gone (", error_text(error), ")")};
    note(gone);
    return gone;
  }
  VerbsEvent read = read_event(event);
  // Recorded before the acknowledgement, after which the queue concerned may be destroyed and forgotten.
  note(read);
  library_->ack_async_event(&event);
  return read;
}

absl::Status VerbsDevice::health(std::uint8_t port) const {
  if (!in_trouble_.load(std::memory_order_relaxed) && !is_lost()) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return absl::UnavailableError(failure_);
  if (is_lost()) return absl::UnavailableError(absl::StrCat("RDMA device ", name_, " is gone"));
  const auto found = port_trouble_.find(port);
  return found == port_trouble_.end() ? absl::OkStatus() : absl::UnavailableError(found->second);
}

void VerbsDevice::note(const VerbsEvent& event) {
  if (event.kind == VerbsEvent::Kind::kGidChange) gid_changes_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (event.kind == VerbsEvent::Kind::kDeviceFatal) failure_ = event.words;
  if (event.kind == VerbsEvent::Kind::kPortError) {
    port_trouble_[event.port] = event.words;
    port_errors_.fetch_add(1, std::memory_order_relaxed);
  }
  if (event.kind == VerbsEvent::Kind::kPortActive) port_trouble_.erase(event.port);
  if (event.kind == VerbsEvent::Kind::kQueueFatal && async_errors_.size() < kMaxAsyncErrors) {
    async_errors_[event.queue] = event.words;
  }
  update_trouble();
}

void VerbsDevice::update_trouble() const {
  in_trouble_.store(!failure_.empty() || !port_trouble_.empty() || !async_errors_.empty(), std::memory_order_relaxed);
}

std::string VerbsDevice::last_async_error(const void* queue) const {
  if (!in_trouble_.load(std::memory_order_relaxed)) return "";
  const std::lock_guard lock(mutex_);
  const auto found = async_errors_.find(queue);
  return found == async_errors_.end() ? "" : found->second;
}

void VerbsDevice::forget(const void* queue) const {
  if (!in_trouble_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  async_errors_.erase(queue);
  update_trouble();
}

// The event that reports the recovery may never arrive. `errors`: port_errors_ before the device was queried; an
// error since then may be newer than the answer.
void VerbsDevice::note_active_port(std::uint8_t port, std::uint64_t errors) const {
  if (!in_trouble_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (port_errors_.load(std::memory_order_relaxed) != errors) return;
  port_trouble_.erase(port);
  update_trouble();
}

VerbsEvent VerbsDevice::read_event(const ibv_async_event& event) {
  VerbsEvent read;
  read.kind = event_kind(event.event_type);
  read.words = absl::StrCat("RDMA device ", name_, ": ", library_->event_type_str(event.event_type));
  if (read.kind == VerbsEvent::Kind::kQueueFatal) read.queue = queue_of(event);
  if (read.kind == VerbsEvent::Kind::kDeviceFatal) give_up();
  if (is_of_a_port(read.kind)) read.port = static_cast<std::uint8_t>(event.element.port_num);
  return read;
}

bool VerbsDevice::is_removed() const {
  const std::string entry = absl::StrCat("/sys/class/infiniband_verbs/", context_->device->dev_name);
  return ::access(entry.c_str(), F_OK) != 0;
}

absl::Status VerbsDevice::refused(int error, absl::string_view what) const {
  const std::string words = absl::StrCat("RDMA device ", name_, " cannot ", what, ": ", error_text(error));
  switch (error) {
    case ENOMEM:
    case ENOSPC:
      return absl::ResourceExhaustedError(absl::StrCat(words, "; ", limits()));
    case EAGAIN:
      return absl::ResourceExhaustedError(
          absl::StrCat(words, "; this process's cgroup limit for this device is reached: raise rdma.max"));
    case EMFILE:
      return absl::ResourceExhaustedError(absl::StrCat(
          words, "; this process's descriptor limit is reached: raise ulimit -n (a service's LimitNOFILE)"));
    default:
      return absl::UnavailableError(words);
  }
}

std::string VerbsDevice::limits() const {
  std::string of_device =
      absl::StrCat("the device supports ", attributes_.max_mr, " registrations, ", attributes_.max_qp,
                   " queue pairs and ", attributes_.max_cq, " completion queues in total");
  rlimit lock{};
  if (::getrlimit(RLIMIT_MEMLOCK, &lock) != 0 || lock.rlim_cur == RLIM_INFINITY) return of_device;
  return absl::StrCat(
      "this process may lock ", lock.rlim_cur / 1024,
      " KiB of memory: raise the limit (ulimit -l unlimited, a service's LimitMEMLOCK=infinity, docker run "
      "--ulimit memlock=-1); ",
      of_device);
}

}  // namespace cableway::host
