// The constants and plain data types of NCCL's network plugin interface, versions 8 to 12.
//
// These declarations describe a binary interface that NCCL defines: an LP64 layout, checked by the static_asserts
// beside every struct. A type that several versions share is named for the first version that has it, with aliases for
// the later ones. Field names follow this project's style; their order is NCCL's.
//
// Everything here is plain old data, without ownership or thread affinity. net_abi.h has the function tables.
#ifndef CABLEWAY_NCCL_ADAPTER_ABI_NET_ABI_TYPES_H_
#define CABLEWAY_NCCL_ADAPTER_ABI_NET_ABI_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cableway::nccl::abi {

static_assert(sizeof(void*) == 8 && sizeof(std::size_t) == 8 && sizeof(int) == 4, "NCCL's ABI is LP64");

// ---- Constants ----

inline constexpr std::size_t kHandleBytes = 128;  // written by listen, read by connect
inline constexpr int kMaxRequests = 32;           // requests in flight per comm, for each grouped receive
inline constexpr int kStepsInFlight = 8;          // posted by NCCL's core per connection
inline constexpr int kMaxChannels = 64;
inline constexpr int kMaxDevicesPerNicV9 = 4;  // v9 to v11
inline constexpr int kMaxDevicesPerNicV12 = 8;

// Kinds of memory, as bits of Properties::ptr_support and as the type argument of regMr.
inline constexpr int kPtrHost = 1;
inline constexpr int kPtrCuda = 2;
inline constexpr int kPtrDmaBuf = 4;

// Hints that irecv may find in *request on entry, from v9 on. They are not requests.
inline constexpr std::uintptr_t kOptionalRecvCompletion = 0x1;
inline constexpr std::uintptr_t kMultiRequest = 0x2;

inline constexpr int kTrafficClassUndefined = -1;
inline constexpr int kNetAttrUndefined = -1;
inline constexpr std::int16_t kRailUndefined = -1;   // v12
inline constexpr std::int16_t kPlaneUndefined = -1;  // v12
inline constexpr int kDeviceInvalidVersion = 0;

// Every enumeration has a fixed underlying type, so that values of a later NCCL are not undefined behaviour.
enum Result : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
  kTimeout = 8,  // from NCCL 2.30
};

enum LogLevel : int {
  kLogNone = 0,
  kLogVersion = 1,
  kLogWarn = 2,
  kLogInfo = 3,
  kLogAbort = 4,
  kLogTrace = 5,
};

// A log line whose subsystems are 0 is dropped: pass kSubsysInit | kSubsysNet.
enum Subsystem : unsigned long {
  kSubsysInit = 0x1,
  kSubsysColl = 0x2,
  kSubsysP2p = 0x4,
  kSubsysShm = 0x8,
  kSubsysNet = 0x10,
  kSubsysGraph = 0x20,
  kSubsysTuning = 0x40,
  kSubsysEnv = 0x80,
  kSubsysAlloc = 0x100,
  kSubsysCall = 0x200,
  kSubsysProxy = 0x400,
  kSubsysNvls = 0x800,
  kSubsysBootstrap = 0x1000,
  kSubsysReg = 0x2000,
  kSubsysProfile = 0x4000,
  kSubsysRas = 0x8000,
  kSubsysAll = ~0UL,
};

// Collective functions, as they appear in NetAttr::op.
enum Function : int {
  kFunctionBroadcast = 0,
  kFunctionReduce = 1,
  kFunctionAllGather = 2,
  kFunctionReduceScatter = 3,
  kFunctionAllReduce = 4,
  kFunctionSendRecv = 5,
  kFunctionSend = 6,
  kFunctionRecv = 7,
  kFunctionAllToAll = 8,
  kFunctionScatter = 9,
  kFunctionGather = 10,
};

// As they appear in NetAttr::algo.
enum Algorithm : int {
  kAlgorithmTree = 0,
  kAlgorithmRing = 1,
  kAlgorithmCollnetDirect = 2,
  kAlgorithmCollnetChain = 3,
  kAlgorithmNvls = 4,
  kAlgorithmNvlsTree = 5,
  kAlgorithmPat = 6,
};

// As they appear in NetAttr::proto.
enum Protocol : int {
  kProtocolLl = 0,
  kProtocolLl128 = 1,
  kProtocolSimple = 2,
};

enum DeviceType : int {
  kDeviceHost = 0,
  kDeviceUnpack = 1,
  kDeviceGinProxy = 2,
  kDeviceGinGdaki = 3,
  kDeviceGinGpi = 4,  // from NCCL 2.30
};

// The type argument of the profiler callback.
enum ProfilerEvent : int {
  kProfilerEventStart = 0,
  kProfilerEventStop = 1,
  kProfilerEventUpdate = 2,
  kProfilerEventUpdateAndStop = 3,
};

static_assert(sizeof(Result) == 4 && sizeof(LogLevel) == 4 && sizeof(DeviceType) == 4);

// ---- Callbacks that NCCL passes to init ----

// Thread-safe. `flags` is a set of Subsystem bits.
typedef void (*Logger)(LogLevel level, unsigned long flags, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

using ProfilerCallback = Result (*)(void** event_handle, int type, void* profiler_handle, std::int64_t plugin_id,
                                    void* extra_data);

// ---- Shared types ----

struct DeviceHandle {  // v8 to v12
  DeviceType type;
  int version;
  void* handle;
  std::size_t size;
  int needs_proxy_progress;
};
static_assert(sizeof(DeviceHandle) == 32);
static_assert(offsetof(DeviceHandle, type) == 0 && offsetof(DeviceHandle, version) == 4);
static_assert(offsetof(DeviceHandle, handle) == 8 && offsetof(DeviceHandle, size) == 16);
static_assert(offsetof(DeviceHandle, needs_proxy_progress) == 24);

struct VirtualDeviceV9 {  // v9 to v11
  int count;
  int devices[kMaxDevicesPerNicV9];
};
static_assert(sizeof(VirtualDeviceV9) == 20);
static_assert(offsetof(VirtualDeviceV9, count) == 0 && offsetof(VirtualDeviceV9, devices) == 4);
using VirtualDeviceV10 = VirtualDeviceV9;
using VirtualDeviceV11 = VirtualDeviceV9;

struct VirtualDeviceV12 {
  int count;
  int devices[kMaxDevicesPerNicV12];
};
static_assert(sizeof(VirtualDeviceV12) == 36);
static_assert(offsetof(VirtualDeviceV12, count) == 0 && offsetof(VirtualDeviceV12, devices) == 4);

struct CommConfig {  // v10 to v12
  int traffic_class;
};
static_assert(sizeof(CommConfig) == 4 && offsetof(CommConfig, traffic_class) == 0);

struct CommAttr {
  std::int32_t max_concurrent_peers;
  std::int32_t min_concurrent_peers;
  std::int32_t max_flows_per_peer;
  std::int32_t min_flows_per_peer;
};
static_assert(sizeof(CommAttr) == 16);
static_assert(offsetof(CommAttr, max_concurrent_peers) == 0 && offsetof(CommAttr, min_concurrent_peers) == 4);
static_assert(offsetof(CommAttr, max_flows_per_peer) == 8 && offsetof(CommAttr, min_flows_per_peer) == 12);

struct NetAttr {  // v11 and v12
  CommAttr send;
  CommAttr recv;
  std::uint32_t op;
  std::uint32_t algo;
  std::uint32_t proto;
};
static_assert(sizeof(NetAttr) == 44);
static_assert(offsetof(NetAttr, send) == 0 && offsetof(NetAttr, recv) == 16);
static_assert(offsetof(NetAttr, op) == 32 && offsetof(NetAttr, algo) == 36 && offsetof(NetAttr, proto) == 40);

// ---- Properties of a device ----
//
// `speed` is in Mbit/s, `latency` in microseconds. The plugin owns the strings, and keeps them for its lifetime.

struct PropertiesV8 {
  char* name;
  char* pci_path;  // null: attached to the first CPU
  std::uint64_t guid;
  int ptr_support;
  int reg_is_global;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_recvs;
  DeviceType device_type;
  int device_version;
};
static_assert(sizeof(PropertiesV8) == 64);
static_assert(offsetof(PropertiesV8, name) == 0 && offsetof(PropertiesV8, pci_path) == 8);
static_assert(offsetof(PropertiesV8, guid) == 16 && offsetof(PropertiesV8, ptr_support) == 24);
static_assert(offsetof(PropertiesV8, reg_is_global) == 28 && offsetof(PropertiesV8, speed) == 32);
static_assert(offsetof(PropertiesV8, port) == 36 && offsetof(PropertiesV8, latency) == 40);
static_assert(offsetof(PropertiesV8, max_comms) == 44 && offsetof(PropertiesV8, max_recvs) == 48);
static_assert(offsetof(PropertiesV8, device_type) == 52 && offsetof(PropertiesV8, device_version) == 56);

struct PropertiesV9 {
  char* name;
  char* pci_path;  // null: attached to the first CPU
  std::uint64_t guid;
  int ptr_support;
  int reg_is_global;
  int force_flush;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_recvs;
  DeviceType device_type;
  int device_version;
  VirtualDeviceV9 virtual_device;
  std::size_t max_p2p_bytes;
  std::size_t max_coll_bytes;
};
static_assert(sizeof(PropertiesV9) == 104);
static_assert(offsetof(PropertiesV9, name) == 0 && offsetof(PropertiesV9, pci_path) == 8);
static_assert(offsetof(PropertiesV9, guid) == 16 && offsetof(PropertiesV9, ptr_support) == 24);
static_assert(offsetof(PropertiesV9, reg_is_global) == 28 && offsetof(PropertiesV9, force_flush) == 32);
static_assert(offsetof(PropertiesV9, speed) == 36 && offsetof(PropertiesV9, port) == 40);
static_assert(offsetof(PropertiesV9, latency) == 44 && offsetof(PropertiesV9, max_comms) == 48);
static_assert(offsetof(PropertiesV9, max_recvs) == 52 && offsetof(PropertiesV9, device_type) == 56);
static_assert(offsetof(PropertiesV9, device_version) == 60 && offsetof(PropertiesV9, virtual_device) == 64);
static_assert(offsetof(PropertiesV9, max_p2p_bytes) == 88 && offsetof(PropertiesV9, max_coll_bytes) == 96);
using PropertiesV10 = PropertiesV9;

struct PropertiesV11 {
  char* name;
  char* pci_path;  // null: attached to the first CPU
  std::uint64_t guid;
  int ptr_support;
  int reg_is_global;
  int force_flush;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_recvs;
  DeviceType device_type;
  int device_version;
  VirtualDeviceV11 virtual_device;
  std::size_t max_p2p_bytes;
  std::size_t max_coll_bytes;
  int max_multi_request_size;
};
static_assert(sizeof(PropertiesV11) == 112);
static_assert(offsetof(PropertiesV11, name) == 0 && offsetof(PropertiesV11, pci_path) == 8);
static_assert(offsetof(PropertiesV11, guid) == 16 && offsetof(PropertiesV11, ptr_support) == 24);
static_assert(offsetof(PropertiesV11, reg_is_global) == 28 && offsetof(PropertiesV11, force_flush) == 32);
static_assert(offsetof(PropertiesV11, speed) == 36 && offsetof(PropertiesV11, port) == 40);
static_assert(offsetof(PropertiesV11, latency) == 44 && offsetof(PropertiesV11, max_comms) == 48);
static_assert(offsetof(PropertiesV11, max_recvs) == 52 && offsetof(PropertiesV11, device_type) == 56);
static_assert(offsetof(PropertiesV11, device_version) == 60 && offsetof(PropertiesV11, virtual_device) == 64);
static_assert(offsetof(PropertiesV11, max_p2p_bytes) == 88 && offsetof(PropertiesV11, max_coll_bytes) == 96);
static_assert(offsetof(PropertiesV11, max_multi_request_size) == 104);

struct PropertiesV12 {
  char* name;
  char* pci_path;  // null: attached to the first CPU
  std::uint64_t guid;
  int ptr_support;
  int reg_is_global;
  int force_flush;
  int speed;
  int port;
  float latency;
  int max_comms;
  int max_recvs;
  DeviceType device_type;
  int device_version;
  VirtualDeviceV12 virtual_device;
  std::size_t max_p2p_bytes;
  std::size_t max_coll_bytes;
  int max_multi_request_size;
  std::int16_t rail_id;
  std::int16_t plane_id;
};
static_assert(sizeof(PropertiesV12) == 128);
static_assert(offsetof(PropertiesV12, name) == 0 && offsetof(PropertiesV12, pci_path) == 8);
static_assert(offsetof(PropertiesV12, guid) == 16 && offsetof(PropertiesV12, ptr_support) == 24);
static_assert(offsetof(PropertiesV12, reg_is_global) == 28 && offsetof(PropertiesV12, force_flush) == 32);
static_assert(offsetof(PropertiesV12, speed) == 36 && offsetof(PropertiesV12, port) == 40);
static_assert(offsetof(PropertiesV12, latency) == 44 && offsetof(PropertiesV12, max_comms) == 48);
static_assert(offsetof(PropertiesV12, max_recvs) == 52 && offsetof(PropertiesV12, device_type) == 56);
static_assert(offsetof(PropertiesV12, device_version) == 60 && offsetof(PropertiesV12, virtual_device) == 64);
static_assert(offsetof(PropertiesV12, max_p2p_bytes) == 104 && offsetof(PropertiesV12, max_coll_bytes) == 112);
static_assert(offsetof(PropertiesV12, max_multi_request_size) == 120);
static_assert(offsetof(PropertiesV12, rail_id) == 124 && offsetof(PropertiesV12, plane_id) == 126);

template <typename T>
inline constexpr bool kIsPlainData = std::is_standard_layout_v<T>&& std::is_trivial_v<T>;
static_assert(kIsPlainData<DeviceHandle> && kIsPlainData<CommConfig> && kIsPlainData<NetAttr>);
static_assert(kIsPlainData<VirtualDeviceV9> && kIsPlainData<VirtualDeviceV12>);
static_assert(kIsPlainData<PropertiesV8> && kIsPlainData<PropertiesV9>);
static_assert(kIsPlainData<PropertiesV11> && kIsPlainData<PropertiesV12>);

}  // namespace cableway::nccl::abi

#endif  // CABLEWAY_NCCL_ADAPTER_ABI_NET_ABI_TYPES_H_
