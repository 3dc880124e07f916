#include "tests/core/linux/rdma/fake_verbs.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace cableway::host::test {
namespace {

// The devices that can be opened.
std::vector<FakeVerbsDevice*>& listed_devices() {
  static auto& devices = *new std::vector<FakeVerbsDevice*>;
  return devices;
}

struct FakeQueue : ibv_cq {
  std::deque<ibv_wc> done;
  bool armed = false;
};

// Its descriptor is the read end of a pipe, with one byte for every event.
struct FakeChannel : ibv_comp_channel {
  FakeQueue* queue = nullptr;
  int other_end = -1;
};

struct FakePair : ibv_qp {
  std::uint32_t other = 0;
  ibv_gid other_gid{};
  unsigned access = 0;
};

// Protects registrations and queues, which writes of several threads access.
std::mutex& wires() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

// Queue pairs by number, over all devices.
std::map<std::uint32_t, FakePair*>& live_pairs() {
  static auto& pairs = *new std::map<std::uint32_t, FakePair*>;
  return pairs;
}

FakeVerbsDevice& device_of(const ibv_context* context) {
  return static_cast<FakeVerbsDevice&>(*context->device);
}

// Devices number their keys from an arbitrary start.
constexpr std::uint32_t kFirstKey = 0x1000;

FakeRegistration* registration_of(FakeVerbsDevice& device, std::uint32_t key) {
  const std::size_t place = key - kFirstKey;
  return place < device.registrations.size() ? &device.registrations[place] : nullptr;
}

ibv_mr* note(ibv_pd* domain, FakeRegistration registration) {
  FakeVerbsDevice& device = device_of(domain->context);
  const std::lock_guard lock(wires());
  registration.key = kFirstKey + static_cast<std::uint32_t>(device.registrations.size());
  device.registrations.push_back(registration);
  auto* const region = new ibv_mr{};
  region->context = domain->context;
  region->lkey = region->rkey = registration.key;
  return region;
}

ibv_mr* fail_with(int error) {
  errno = error;
  return nullptr;
}

ibv_mr* register_memory(ibv_pd* domain, void* data, std::size_t bytes, int access) {
  if (const int error = device_of(domain->context).register_error; error != 0) return fail_with(error);
  return note(
      domain,
      {.address = reinterpret_cast<std::uintptr_t>(data), .bytes = bytes, .access = static_cast<unsigned>(access)});
}

ibv_mr* register_memory_with_options(ibv_pd* domain, void* data, std::size_t bytes, std::uint64_t, unsigned access) {
  return register_memory(domain, data, bytes, static_cast<int>(access));
}

ibv_mr* register_dmabuf(ibv_pd* domain, std::uint64_t offset, std::size_t bytes, std::uint64_t address, int fd,
                        int access) {
  if (const int error = device_of(domain->context).dmabuf_error; error != 0) return fail_with(error);
  if (fd < 0) return fail_with(EBADF);
  return note(
      domain,
      {.address = address, .bytes = bytes, .access = static_cast<unsigned>(access), .dmabuf = true, .offset = offset});
}

int deregister(ibv_mr* region) {
  const std::lock_guard lock(wires());
  registration_of(device_of(region->context), region->lkey)->is_live = false;
  delete region;
  return 0;
}

// ---- Work requests ----

// Whether a key permits access to a range of memory.
bool allows(FakeVerbsDevice& device, std::uint32_t key, std::uint64_t address, std::size_t bytes, unsigned access) {
  const FakeRegistration* const found = registration_of(device, key);
  return found != nullptr && found->is_live && (found->access & access) == access && address >= found->address &&
         address + bytes <= found->address + found->bytes;
}

ibv_wc_status read_itself(const FakePair& pair, const ibv_send_wr& posting) {
  FakeVerbsDevice& device = device_of(pair.context);
  if (device.read_status != IBV_WC_SUCCESS) return device.read_status;
  if (pair.other != pair.qp_num || std::memcmp(pair.other_gid.raw, device.gid.bytes.data(), 16) != 0) {
    return IBV_WC_RETRY_EXC_ERR;
  }
  const ibv_sge& landing = posting.sg_list[0];
  if (!allows(device, landing.lkey, landing.addr, landing.length, IBV_ACCESS_LOCAL_WRITE)) return IBV_WC_LOC_PROT_ERR;
  const auto& from = posting.wr.rdma;
  if ((pair.access & IBV_ACCESS_REMOTE_READ) == 0 ||
      !allows(device, from.rkey, from.remote_addr, landing.length, IBV_ACCESS_REMOTE_READ)) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  std::memcpy(reinterpret_cast<void*>(landing.addr), reinterpret_cast<const void*>(from.remote_addr), landing.length);
  return IBV_WC_SUCCESS;
}

void complete(FakeQueue& queue, const ibv_wc& done) {
  queue.done.push_back(done);
  if (!std::exchange(queue.armed, false) || queue.channel == nullptr) return;
  const char event = 1;
  if (::write(static_cast<FakeChannel*>(queue.channel)->other_end, &event, 1) != 1) std::abort();
}

ibv_wc_status write_to_other(const FakePair& pair, const ibv_send_wr& posting) {
  const auto found = live_pairs().find(pair.other);
  if (found == live_pairs().end()) return IBV_WC_RETRY_EXC_ERR;
  const FakePair& other = *found->second;
  if (&other == &pair) return IBV_WC_SUCCESS;
  const auto& to = posting.wr.rdma;
  for (int i = 0; i < posting.num_sge; ++i) {
    const ibv_sge& piece = posting.sg_list[i];
    const bool inlined = (posting.send_flags & IBV_SEND_INLINE) != 0;
    if (!inlined && !allows(device_of(pair.context), piece.lkey, piece.addr, piece.length, 0)) {
      return IBV_WC_LOC_PROT_ERR;
    }
    if ((other.access & IBV_ACCESS_REMOTE_WRITE) == 0 ||
        !allows(device_of(other.context), to.rkey, to.remote_addr, piece.length, IBV_ACCESS_REMOTE_WRITE)) {
      return IBV_WC_REM_ACCESS_ERR;
    }
    std::memcpy(reinterpret_cast<void*>(to.remote_addr), reinterpret_cast<const void*>(piece.addr), piece.length);
  }
  if (posting.opcode != IBV_WR_RDMA_WRITE_WITH_IMM) return IBV_WC_SUCCESS;
  ibv_wc notice{};
  notice.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  notice.imm_data = posting.imm_data;
  complete(static_cast<FakeQueue&>(*other.recv_cq), notice);
  return IBV_WC_SUCCESS;
}

int post_send(ibv_qp* pair, ibv_send_wr* postings, ibv_send_wr** refused) {
  FakeVerbsDevice& device = device_of(pair->context);
  const std::lock_guard lock(wires());
  for (ibv_send_wr* each = postings; each != nullptr; each = each->next) {
    *refused = each;
    if (device.posting_error != 0) return device.posting_error;
    if (pair->state != IBV_QPS_RTS) return EINVAL;
    const bool reads = each->opcode == IBV_WR_RDMA_READ;
    ibv_wc done{};
    done.wr_id = each->wr_id;
    done.opcode = reads ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE;
    const auto& from = static_cast<const FakePair&>(*pair);
    done.status = reads ? read_itself(from, *each) : write_to_other(from, *each);
    if (reads) ++device.reads;
    const bool reported = (each->send_flags & IBV_SEND_SIGNALED) != 0 || done.status != IBV_WC_SUCCESS;
    if (reported) complete(static_cast<FakeQueue&>(*pair->send_cq), done);
  }
  return 0;
}

int post_receive(ibv_qp* pair, ibv_recv_wr*, ibv_recv_wr**) {
  if (pair->state == IBV_QPS_RESET) return EINVAL;
  const std::lock_guard lock(wires());
  ++device_of(pair->context).received;
  return 0;
}

int poll_queue(ibv_cq* queue, int most, ibv_wc* completions) {
  FakeVerbsDevice& device = device_of(queue->context);
  if (device.holds_completions) return 0;
  int filled = 0;
  {
    const std::lock_guard lock(wires());
    auto& done = static_cast<FakeQueue*>(queue)->done;
    std::vector<ibv_wc> extra_completions;
    std::swap(extra_completions, device.extra_completions);
    done.insert(done.begin(), extra_completions.begin(), extra_completions.end());
    for (; filled < most && !done.empty(); ++filled) {
      completions[filled] = done.front();
      done.pop_front();
    }
  }
  if (filled == 0 && device.when_polled_empty) device.when_polled_empty();
  return filled;
}

int arm_queue(ibv_cq* queue, int) {
  FakeVerbsDevice& device = device_of(queue->context);
  if (device.when_arming) device.when_arming();
  const std::lock_guard lock(wires());
  static_cast<FakeQueue*>(queue)->armed = true;
  ++device.armed;
  return 0;
}

// ---- Devices ----

ibv_device** list_devices(int* count) {
  const std::vector<FakeVerbsDevice*>& devices = listed_devices();
  auto* const list = new ibv_device*[devices.size() + 1]();
  std::copy(devices.begin(), devices.end(), list);
  *count = static_cast<int>(devices.size());
  return list;
}

void free_list(ibv_device** list) {
  delete[] list;
}

const char* name_of(ibv_device* device) {
  return static_cast<FakeVerbsDevice*>(device)->name.c_str();
}

ibv_context* open_device(ibv_device* device) {
  auto* const context = new ibv_context{};
  context->device = device;
  context->cmd_fd = ::eventfd(0, EFD_CLOEXEC);
  context->async_fd = ::eventfd(0, EFD_CLOEXEC);
  context->ops.post_send = post_send;
  context->ops.post_recv = post_receive;
  context->ops.poll_cq = poll_queue;
  context->ops.req_notify_cq = arm_queue;
  return context;
}

int close_device(ibv_context* context) {
  ::close(context->cmd_fd);
  ::close(context->async_fd);
  delete context;
  return 0;
}

int query_device(ibv_context* context, ibv_device_attr* attributes) {
  *attributes = {};
  attributes->vendor_id = device_of(context).vendor_id;
  attributes->max_mr = 1000;
  attributes->max_qp = 100;
  attributes->max_cq = 200;
  attributes->phys_port_cnt = 1;
  return 0;
}

int next_event(ibv_context* context, ibv_async_event* event) {
  std::deque<ibv_async_event>& events = device_of(context).events;
  if (events.empty()) {
    errno = EAGAIN;
    return -1;
  }
  *event = events.front();
  events.pop_front();
  return 0;
}

void acknowledge_event(ibv_async_event*) {}

const char* event_text(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_PORT_ERR:
      return "port error";
    case IBV_EVENT_PORT_ACTIVE:
      return "port active";
    case IBV_EVENT_QP_ACCESS_ERR:
      return "local access violation";
    case IBV_EVENT_CQ_ERR:
      return "CQ error";
    default:
      return "some event";
  }
}

int query_port(ibv_context* context, std::uint8_t, _compat_ibv_port_attr* attributes) {
  if (device_of(context).while_port_is_queried) device_of(context).while_port_is_queried();
  // Callers of the library's own function pass the whole structure, of which the old one is a prefix.
  auto* const port = reinterpret_cast<ibv_port_attr*>(attributes);
  port->state = device_of(context).port_state;
  port->active_mtu = IBV_MTU_4096;
  port->link_layer = IBV_LINK_LAYER_ETHERNET;
  port->gid_tbl_len = 16;
  return 0;
}

int query_gid(ibv_context* context, std::uint8_t, int index, ibv_gid* gid) {
  const VerbsGid& own = device_of(context).gid;
  if (!device_of(context).has_gid || index != own.index) return EINVAL;
  std::memcpy(gid->raw, own.bytes.data(), own.bytes.size());
  return 0;
}

// Like the kernel, fills no list to its end.
ssize_t query_gids(ibv_context* context, ibv_gid_entry* entries, std::size_t most, std::uint32_t, std::size_t) {
  const FakeVerbsDevice& device = device_of(context);
  std::vector<ibv_gid_entry> all = device.other_gids;
  if (device.has_gid) {
    ibv_gid_entry& own = all.emplace_back();
    std::memcpy(own.gid.raw, device.gid.bytes.data(), device.gid.bytes.size());
    own.gid_index = static_cast<std::uint32_t>(device.gid.index);
    own.port_num = device.gid.port;
    own.gid_type = IBV_GID_TYPE_ROCE_V2;
    own.ndev_ifindex = device.gid.interface;
  }
  if (all.size() >= most) return -EINVAL;
  std::copy(all.begin(), all.end(), entries);
  return static_cast<ssize_t>(all.size());
}

ibv_pd* make_domain(ibv_context* context) {
  auto* const domain = new ibv_pd{};
  domain->context = context;
  return domain;
}

int free_domain(ibv_pd* domain) {
  delete domain;
  return 0;
}

// ---- Queues ----

ibv_comp_channel* make_channel(ibv_context* context) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return nullptr;
  auto* const channel = new FakeChannel{};
  channel->context = context;
  channel->fd = ends[0];
  channel->other_end = ends[1];
  return channel;
}

int free_channel(ibv_comp_channel* channel) {
  ::close(channel->fd);
  ::close(static_cast<FakeChannel*>(channel)->other_end);
  delete static_cast<FakeChannel*>(channel);
  return 0;
}

ibv_cq* make_queue(ibv_context* context, int, void*, ibv_comp_channel* channel, int) {
  auto* const queue = new FakeQueue{};
  queue->context = context;
  queue->channel = channel;
  if (channel != nullptr) static_cast<FakeChannel*>(channel)->queue = queue;
  const std::lock_guard lock(wires());
  device_of(context).last_queue = queue;
  return queue;
}

int free_queue(ibv_cq* queue) {
  delete static_cast<FakeQueue*>(queue);
  return 0;
}

// Channels are read without blocking here.
int take_event(ibv_comp_channel* channel, ibv_cq** queue, void**) {
  char event;
  if (::read(channel->fd, &event, 1) != 1) return -1;
  *queue = static_cast<FakeChannel*>(channel)->queue;
  ++device_of(channel->context).completion_events;
  return 0;
}

void acknowledge_events(ibv_cq*, unsigned) {}

ibv_qp* make_pair(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  if (const int error = device_of(domain->context).queue_pair_error; error != 0) {
    errno = error;
    return nullptr;
  }
  static std::uint32_t last_number = 16;
  auto* const pair = new FakePair{};
  pair->context = domain->context;
  pair->send_cq = wanted->send_cq;
  pair->recv_cq = wanted->recv_cq;
  const std::lock_guard lock(wires());
  pair->qp_num = ++last_number;
  live_pairs()[pair->qp_num] = pair;
  device_of(domain->context).last_pair = pair;
  return pair;
}

int modify_pair(ibv_qp* pair, ibv_qp_attr* wanted, int what) {
  auto& changed = static_cast<FakePair&>(*pair);
  FakeVerbsDevice& device = device_of(pair->context);
  const bool joins = (what & IBV_QP_AV) != 0;
  if (joins && device.before_joining) device.before_joining();
  if (joins && device.join_error != 0) return device.join_error;
  if (joins && (!device.has_gid || wanted->ah_attr.grh.sgid_index != device.gid.index)) return EINVAL;
  {
    const std::lock_guard lock(wires());
    if ((what & IBV_QP_ACCESS_FLAGS) != 0) changed.access = wanted->qp_access_flags;
    if ((what & IBV_QP_DEST_QPN) != 0) changed.other = wanted->dest_qp_num;
    if (joins) {
      changed.other_gid = wanted->ah_attr.grh.dgid;
      std::memcpy(device.joined.emplace_back().data(), changed.other_gid.raw, 16);
      device.joined_by.push_back(wanted->ah_attr.grh.sgid_index);
    }
    if ((what & IBV_QP_SQ_PSN) != 0) device.packet_sequences.push_back(wanted->sq_psn);
    changed.state = wanted->qp_state;
  }
  if (joins && device.after_joining) device.after_joining();
  return 0;
}

int free_pair(ibv_qp* pair) {
  const std::lock_guard lock(wires());
  live_pairs().erase(pair->qp_num);
  delete static_cast<FakePair*>(pair);
  return 0;
}

// The text of a status that a test has configured.
const char* status_text(ibv_wc_status status) {
  return status == IBV_WC_REM_ACCESS_ERR ? "remote access error" : "some error";
}

VerbsLibrary fake_library() {
  VerbsLibrary library;
  library.get_device_list = list_devices;
  library.free_device_list = free_list;
  library.get_device_name = name_of;
  library.open_device = open_device;
  library.close_device = close_device;
  library.query_device = query_device;
  library.query_old_port = query_port;
  library.query_gid = query_gid;
  library.query_gid_table = query_gids;
  library.get_async_event = next_event;
  library.ack_async_event = acknowledge_event;
  library.event_type_str = event_text;
  library.alloc_pd = make_domain;
  library.dealloc_pd = free_domain;
  library.reg_mr = register_memory;
  library.reg_mr_iova2 = register_memory_with_options;
  library.reg_dmabuf_mr = register_dmabuf;
  library.dereg_mr = deregister;
  library.create_comp_channel = make_channel;
  library.destroy_comp_channel = free_channel;
  library.create_cq = make_queue;
  library.destroy_cq = free_queue;
  library.get_cq_event = take_event;
  library.ack_cq_events = acknowledge_events;
  library.create_qp = make_pair;
  library.modify_qp = modify_pair;
  library.destroy_qp = free_pair;
  library.wc_status_str = status_text;
  return library;
}

VerbsLibrary& the_library() {
  static auto& library = *new VerbsLibrary;
  return library;
}

}  // namespace

FakeVerbs::FakeVerbs() : library_(the_library()) {
  library_ = fake_library();
}

FakeVerbs::~FakeVerbs() {
  listed_devices().clear();
}

FakeVerbsDevice& FakeVerbs::add(const std::string& name, const VerbsGid& gid) {
  devices_.push_back(std::make_unique<FakeVerbsDevice>(name));
  devices_.back()->gid = gid;
  listed_devices().push_back(devices_.back().get());
  return *devices_.back();
}

std::shared_ptr<VerbsDevice> FakeVerbs::open(const FakeVerbsDevice& device) const {
  return VerbsDevice::open(device.name, library_).value();
}

}  // namespace cableway::host::test
