// A small net plugin for the tests of collperf: TCP on 127.0.0.1, non-blocking, no threads. It exports the tables v8 to
// v12 over one implementation and is stricter than a plugin needs to be: unregistered memory, an oversize message, or
// an object left open at finalize is an error or a warning.
//
// Faults, each switched on by an environment variable:
//   LOOPBACK_CORRUPT=N     flips a bit of the N-th byte that this process receives
//   LOOPBACK_STALL=N       nothing is sent from the N-th message on
//   LOOPBACK_FAIL=N        the N-th isend fails with a warning and ncclRemoteError
//   LOOPBACK_NO_ACCEPT=1   accept never succeeds
//   LOOPBACK_BLOCK=1       the first test() of a message never returns
//   LOOPBACK_KEEP_HINT=1   irecv leaves the hint in *request
//   LOOPBACK_DIE=N         the process kills itself at the N-th isend

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "nccl_adapter/abi/net_abi.h"

namespace {

namespace abi = cableway::nccl::abi;

constexpr std::uint32_t kMagic = 0x6c6f6f70;
constexpr unsigned long kSubsystems = abi::kSubsysInit | abi::kSubsysNet;

std::uint64_t fault_number(const char* name) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never modified
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

struct Faults {
  std::uint64_t corrupt = fault_number("LOOPBACK_CORRUPT");
  std::uint64_t stall = fault_number("LOOPBACK_STALL");
  std::uint64_t fail = fault_number("LOOPBACK_FAIL");
  std::uint64_t die = fault_number("LOOPBACK_DIE");
  bool no_accept = fault_number("LOOPBACK_NO_ACCEPT") != 0;
  bool block = fault_number("LOOPBACK_BLOCK") != 0;
  bool keep_hint = fault_number("LOOPBACK_KEEP_HINT") != 0;
};

// One communicator per process, as collperf creates. Its functions are called from one thread at a time.
struct Process {
  abi::Logger logger = nullptr;
  Faults faults;
  int open_objects = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_received = 0;
};

Process& this_process() {
  static Process process;
  return process;
}

#define LOOPBACK_WARN(...) \
  this_process().logger(abi::kLogWarn, kSubsystems, "loopback_plugin.cc", __LINE__, __VA_ARGS__)

struct Handle {
  std::uint32_t magic;
  std::uint16_t port;
  std::uint16_t connect_calls;  // the handle's bytes persist between retries
};

struct Header {
  std::uint32_t magic;
  std::uint32_t bytes;
};

struct Comm;

struct Request {
  Comm* comm = nullptr;
  std::uint8_t* data = nullptr;
  std::size_t capacity = 0;
  Header header{};
  std::size_t header_done = 0;
  std::size_t payload_done = 0;
  bool in_use = false;
  bool done = false;
};

struct Comm {
  int fd = -1;
  bool sending = false;
  std::uint64_t calls = 0;
  std::uint64_t posted = 0;
  std::uint64_t finished = 0;
  std::array<Request, abi::kMaxRequests> requests;
  std::map<void*, std::pair<std::uint8_t*, std::size_t>> memory;  // by mhandle
};

void make_non_blocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

abi::Result start_listening(void* handle, void** listen_comm) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback_address(0);
  socklen_t length = sizeof(address);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(fd, 16) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    close(fd);
    return abi::kSystemError;
  }
  make_non_blocking(fd);
  const Handle written{kMagic, ntohs(address.sin_port), 0};
  std::memcpy(handle, &written, sizeof(written));
  auto comm = std::make_unique<Comm>();
  comm->fd = fd;
  *listen_comm = comm.release();
  ++this_process().open_objects;
  return abi::kSuccess;
}

abi::Result connect_to_peer(void* raw_handle, void** send_comm) {
  *send_comm = nullptr;
  Handle handle;
  std::memcpy(&handle, raw_handle, sizeof(handle));
  if (handle.magic != kMagic) return abi::kInvalidArgument;
  if (++handle.connect_calls < 3) {  // "call again", twice
    std::memcpy(raw_handle, &handle, sizeof(handle));
    return abi::kSuccess;
  }
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback_address(handle.port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    LOOPBACK_WARN("no listener at port %d", handle.port);
    close(fd);
    return abi::kRemoteError;
  }
  make_non_blocking(fd);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  auto comm = std::make_unique<Comm>();
  comm->fd = fd;
  comm->sending = true;
  *send_comm = comm.release();
  ++this_process().open_objects;
  return abi::kSuccess;
}

abi::Result accept_peer(void* listen_comm, void** recv_comm) {
  *recv_comm = nullptr;
  if (this_process().faults.no_accept) return abi::kSuccess;
  const int fd = accept(static_cast<Comm*>(listen_comm)->fd, nullptr, nullptr);
  if (fd < 0) return errno == EAGAIN || errno == EINTR ? abi::kSuccess : abi::kSystemError;
  make_non_blocking(fd);
  auto comm = std::make_unique<Comm>();
  comm->fd = fd;
  *recv_comm = comm.release();
  ++this_process().open_objects;
  return abi::kSuccess;
}

abi::Result reg_mr(void* raw_comm, void* data, std::size_t size, int type, void** mhandle) {
  if (type != abi::kPtrHost || data == nullptr || size == 0) return abi::kInvalidArgument;
  Comm* const comm = static_cast<Comm*>(raw_comm);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): any number but 0 will do
  *mhandle = reinterpret_cast<void*>(0x1000 + comm->memory.size());
  comm->memory[*mhandle] = {static_cast<std::uint8_t*>(data), size};
  ++this_process().open_objects;
  return abi::kSuccess;
}

abi::Result dereg_mr(void* comm, void* mhandle) {
  if (static_cast<Comm*>(comm)->memory.erase(mhandle) == 0) return abi::kInvalidArgument;
  --this_process().open_objects;
  return abi::kSuccess;
}

abi::Result close_comm(void* raw_comm) {
  const std::unique_ptr<Comm> comm(static_cast<Comm*>(raw_comm));
  if (!comm->memory.empty()) LOOPBACK_WARN("closed with %zu registrations", comm->memory.size());
  close(comm->fd);
  --this_process().open_objects;
  return abi::kSuccess;
}

bool is_registered(const Comm& comm, void* data, std::size_t size, void* mhandle) {
  const auto it = comm.memory.find(mhandle);
  if (it == comm.memory.end()) return false;
  const auto [base, bytes] = it->second;
  const auto* const begin = static_cast<std::uint8_t*>(data);
  return begin >= base && begin + size <= base + bytes;
}

// The next request, or null if all are in use, or for every fifth call ("not now").
abi::Result start_request(Comm& comm, void* data, std::size_t size, void* mhandle, void** request) {
  *request = nullptr;
  if (!is_registered(comm, data, size, mhandle)) {
    LOOPBACK_WARN("message of %zu bytes is not in registered memory", size);
    return abi::kInvalidArgument;
  }
  if (++comm.calls % 5 == 0) return abi::kSuccess;
  Request& slot = comm.requests[comm.posted % comm.requests.size()];
  if (slot.in_use) return abi::kSuccess;
  slot = {.comm = &comm, .data = static_cast<std::uint8_t*>(data), .capacity = size};
  slot.in_use = true;
  slot.header = {kMagic, static_cast<std::uint32_t>(size)};
  ++comm.posted;
  *request = &slot;
  return abi::kSuccess;
}

abi::Result start_send(void* raw_comm, void* data, std::size_t size, void* mhandle, void** request) {
  Process& process = this_process();
  const abi::Result result = start_request(*static_cast<Comm*>(raw_comm), data, size, mhandle, request);
  if (result != abi::kSuccess || *request == nullptr) return result;
  ++process.messages_sent;
  if (process.faults.die == process.messages_sent) raise(SIGKILL);
  if (process.faults.fail != process.messages_sent) return abi::kSuccess;
  LOOPBACK_WARN("the cable is on fire");
  return abi::kRemoteError;
}

abi::Result start_receive(void* comm, int n, void** data, std::size_t size, void** mhandles, void** request) {
  if (n != 1) return abi::kInvalidArgument;
  void* const before = *request;
  const abi::Result result = start_request(*static_cast<Comm*>(comm), data[0], size, mhandles[0], request);
  if (this_process().faults.keep_hint) *request = before;
  return result;
}

// Transfers bytes of one buffer; the next test() retries the rest.
abi::Result move_bytes(const Comm& comm, std::uint8_t* data, std::size_t bytes, std::size_t& done) {
  while (done < bytes) {
    const ssize_t n = comm.sending ? send(comm.fd, data + done, bytes - done, MSG_NOSIGNAL)
                                   : recv(comm.fd, data + done, bytes - done, 0);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      return abi::kSuccess;
    } else {
      LOOPBACK_WARN("the peer closed the connection");
      return abi::kRemoteError;
    }
  }
  return abi::kSuccess;
}

void corrupt_if_requested(const Request& request) {
  Process& process = this_process();
  const std::uint64_t before = process.bytes_received;
  process.bytes_received += request.header.bytes;
  const std::uint64_t wanted = process.faults.corrupt;
  if (wanted > before && wanted <= process.bytes_received) request.data[wanted - before - 1] ^= 0x10;
}

abi::Result progress(Comm& comm, Request& request) {
  auto* const header = reinterpret_cast<std::uint8_t*>(&request.header);
  if (abi::Result r = move_bytes(comm, header, sizeof(Header), request.header_done); r != abi::kSuccess) return r;
  if (request.header_done < sizeof(Header)) return abi::kSuccess;
  if (request.header.magic != kMagic || request.header.bytes > request.capacity) {
    LOOPBACK_WARN("%u bytes sent, %zu expected", request.header.bytes, request.capacity);
    return abi::kInternalError;
  }
  if (abi::Result r = move_bytes(comm, request.data, request.header.bytes, request.payload_done); r != abi::kSuccess) {
    return r;
  }
  request.done = request.payload_done == request.header.bytes;
  if (request.done && !comm.sending) corrupt_if_requested(request);
  return abi::kSuccess;
}

abi::Result test_request(void* raw_request, int* done, int* sizes) {
  *done = 0;
  const Process& process = this_process();
  while (process.faults.block) usleep(1000);
  Request& wanted = *static_cast<Request*>(raw_request);
  if (!wanted.in_use) return abi::kInvalidUsage;
  Comm& comm = *wanted.comm;
  if (comm.sending && process.faults.stall != 0 && process.messages_sent >= process.faults.stall) return abi::kSuccess;
  while (comm.finished < comm.posted && !wanted.done) {
    Request& oldest = comm.requests[comm.finished % comm.requests.size()];
    if (abi::Result r = progress(comm, oldest); r != abi::kSuccess) return r;
    if (!oldest.done) return abi::kSuccess;
    ++comm.finished;
  }
  *done = 1;
  sizes[0] = static_cast<int>(wanted.header.bytes);
  wanted.in_use = false;
  return abi::kSuccess;
}

// ---- The tables ----

char device_name[] = "loopback0";

template <typename Properties>
abi::Result get_properties(int dev, Properties* properties) {
  if (dev != 0) return abi::kInvalidArgument;
  *properties = {};
  properties->name = device_name;
  properties->guid = 1;
  properties->ptr_support = abi::kPtrHost;
  properties->speed = 10000;
  properties->latency = 1;
  properties->max_comms = 1024;
  properties->max_recvs = 1;
  return abi::kSuccess;
}

abi::Result init_v8(abi::Logger logger) {
  this_process().logger = logger;
  logger(abi::kLogInfo, kSubsystems, "loopback_plugin.cc", __LINE__, "loopback plugin ready");
  return abi::kSuccess;
}
abi::Result init_v10(abi::Logger logger, abi::ProfilerCallback) {
  return init_v8(logger);
}
abi::Result init_v11(void** ctx, std::uint64_t comm_id, abi::CommConfig* config, abi::Logger logger,
                     abi::ProfilerCallback) {
  if (comm_id == 0 || config->traffic_class != abi::kTrafficClassUndefined) return abi::kInvalidArgument;
  *ctx = &this_process();
  return init_v8(logger);
}
abi::Result devices(int* count) {
  *count = 1;
  return abi::kSuccess;
}
abi::Result listen_v8(int, void* handle, void** comm) {
  return start_listening(handle, comm);
}
abi::Result connect_v8(int, void* handle, void** comm, abi::DeviceHandle**) {
  return connect_to_peer(handle, comm);
}
abi::Result connect_v10(int, abi::CommConfig*, void* handle, void** comm, abi::DeviceHandle**) {
  return connect_to_peer(handle, comm);
}
abi::Result listen_v11(void* ctx, int, void* handle, void** comm) {
  return ctx == &this_process() ? start_listening(handle, comm) : abi::kInvalidArgument;
}
abi::Result connect_v11(void* ctx, int, void* handle, void** comm, abi::DeviceHandle**) {
  return ctx == &this_process() ? connect_to_peer(handle, comm) : abi::kInvalidArgument;
}
abi::Result accept_any(void* listen_comm, void** comm, abi::DeviceHandle**) {
  return accept_peer(listen_comm, comm);
}
abi::Result reg_mr_dma_buf(void*, void*, std::size_t, int, std::uint64_t, int, void**) {
  return abi::kInternalError;
}
abi::Result isend_v8(void* comm, void* data, int size, int, void* mhandle, void** request) {
  return start_send(comm, data, static_cast<std::size_t>(size), mhandle, request);
}
abi::Result isend_v9(void* comm, void* data, std::size_t size, int, void* mhandle, void** request) {
  return start_send(comm, data, size, mhandle, request);
}
abi::Result isend_v10(void* comm, void* data, std::size_t size, int, void* mhandle, void*, void** request) {
  return start_send(comm, data, size, mhandle, request);
}
abi::Result irecv_v8(void* comm, int n, void** data, int* sizes, int*, void** mhandles, void** request) {
  return start_receive(comm, n, data, static_cast<std::size_t>(sizes[0]), mhandles, request);
}
abi::Result irecv_v9(void* comm, int n, void** data, std::size_t* sizes, int*, void** mhandles, void** request) {
  return start_receive(comm, n, data, sizes[0], mhandles, request);
}
abi::Result irecv_v10(void* comm, int n, void** data, std::size_t* sizes, int*, void** mhandles, void**,
                      void** request) {
  return start_receive(comm, n, data, sizes[0], mhandles, request);
}
abi::Result iflush(void*, int, void**, int*, void**, void** request) {
  *request = nullptr;
  return abi::kSuccess;
}
abi::Result finalize(void*) {
  if (this_process().open_objects != 0) LOOPBACK_WARN("finalized with %d objects open", this_process().open_objects);
  return abi::kSuccess;
}
abi::Result set_net_attr(void* ctx, abi::NetAttr* attr) {
  return ctx == &this_process() && attr->op <= abi::kFunctionGather ? abi::kSuccess : abi::kInvalidArgument;
}

}  // namespace

extern "C" {

#define LOOPBACK_EXPORT __attribute__((visibility("default"))) extern

LOOPBACK_EXPORT const abi::NetV8 ncclNetPlugin_v8 = {
    "Loopback",     init_v8,      devices,    get_properties<abi::PropertiesV8>,
    listen_v8,      connect_v8,   accept_any, reg_mr,
    reg_mr_dma_buf, dereg_mr,     isend_v8,   irecv_v8,
    iflush,         test_request, close_comm, close_comm,
    close_comm,     nullptr,      nullptr};

LOOPBACK_EXPORT const abi::NetV9 ncclNetPlugin_v9 = {
    "Loopback",     init_v8,      devices,    get_properties<abi::PropertiesV9>,
    listen_v8,      connect_v8,   accept_any, reg_mr,
    reg_mr_dma_buf, dereg_mr,     isend_v9,   irecv_v9,
    iflush,         test_request, close_comm, close_comm,
    close_comm,     nullptr,      nullptr,    nullptr};

LOOPBACK_EXPORT const abi::NetV10 ncclNetPlugin_v10 = {
    "Loopback",     init_v10,     devices,    get_properties<abi::PropertiesV10>,
    listen_v8,      connect_v10,  accept_any, reg_mr,
    reg_mr_dma_buf, dereg_mr,     isend_v10,  irecv_v10,
    iflush,         test_request, close_comm, close_comm,
    close_comm,     nullptr,      nullptr,    nullptr};

LOOPBACK_EXPORT const abi::NetV11 ncclNetPlugin_v11 = {
    "Loopback",     init_v11,     devices,    get_properties<abi::PropertiesV11>,
    listen_v11,     connect_v11,  accept_any, reg_mr,
    reg_mr_dma_buf, dereg_mr,     isend_v10,  irecv_v10,
    iflush,         test_request, close_comm, close_comm,
    close_comm,     nullptr,      nullptr,    nullptr,
    finalize,       set_net_attr};

LOOPBACK_EXPORT const abi::NetV12 ncclNetPlugin_v12 = {
    "Loopback",     init_v11,     devices,    get_properties<abi::PropertiesV12>,
    listen_v11,     connect_v11,  accept_any, reg_mr,
    reg_mr_dma_buf, dereg_mr,     isend_v10,  irecv_v10,
    iflush,         test_request, close_comm, close_comm,
    close_comm,     nullptr,      nullptr,    nullptr,
    finalize,       nullptr};
}
