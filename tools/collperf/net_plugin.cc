#include "tools/collperf/net_plugin.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/collperf/plugin_log.h"

namespace cableway::collperf {
namespace {

namespace abi = nccl::abi;

// NCCL passes a profiler callback from v10 on; without a profiler it does nothing.
abi::Result ignore_profiler_event(void**, int, void*, std::int64_t, void*) {
  return abi::kSuccess;
}

template <int version>
struct VersionTypes;
template <>
struct VersionTypes<8> {
  using Table = abi::NetV8;
  using Properties = abi::PropertiesV8;
};
template <>
struct VersionTypes<9> {
  using Table = abi::NetV9;
  using Properties = abi::PropertiesV9;
};
template <>
struct VersionTypes<10> {
  using Table = abi::NetV10;
  using Properties = abi::PropertiesV10;
};
template <>
struct VersionTypes<11> {
  using Table = abi::NetV11;
  using Properties = abi::PropertiesV11;
};
template <>
struct VersionTypes<12> {
  using Table = abi::NetV12;
  using Properties = abi::PropertiesV12;
};

std::string string_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

template <int version>
class VersionedPlugin final : public NetPlugin {
 public:
  using Table = typename VersionTypes<version>::Table;

  explicit VersionedPlugin(const Table* table) : table_(*table) {}

  int abi_version() const override { return version; }
  std::string name() const override { return string_or_empty(table_.name); }

  abi::Result init(std::uint64_t comm_id, abi::Logger logger) override {
    if constexpr (version >= 11) {
      return table_.init(&context_, comm_id, &config_, logger, &ignore_profiler_event);
    } else if constexpr (version == 10) {
      return table_.init(logger, &ignore_profiler_event);
    } else {
      return table_.init(logger);
    }
  }

  abi::Result finalize() override {
    if constexpr (version >= 11) {
      return table_.finalize(std::exchange(context_, nullptr));
    } else {
      return abi::kSuccess;
    }
  }

  abi::Result devices(int* count) override { return table_.devices(count); }

  abi::Result get_properties(int device, DeviceProperties* properties) override {
    typename VersionTypes<version>::Properties raw{};
    const abi::Result result = table_.getProperties(device, &raw);
    if (result != abi::kSuccess) return result;
    *properties = {.name = string_or_empty(raw.name),
                   .pci_path = string_or_empty(raw.pci_path),
                   .guid = raw.guid,
                   .ptr_support = raw.ptr_support,
                   .speed_mbps = raw.speed,
                   .latency_us = raw.latency,
                   .max_comms = raw.max_comms,
                   .max_recvs = raw.max_recvs};
    return result;
  }

  abi::Result set_net_attr([[maybe_unused]] abi::NetAttr* attr) override {
    if constexpr (version >= 11) {
      if (table_.setNetAttr != nullptr) return table_.setNetAttr(context_, attr);
    }
    return abi::kSuccess;
  }

  abi::Result listen(int device, void* handle, void** listen_comm) override {
    if constexpr (version >= 11) {
      return table_.listen(context_, device, handle, listen_comm);
    } else {
      return table_.listen(device, handle, listen_comm);
    }
  }

  abi::Result connect(int device, void* handle, void** send_comm) override {
    abi::DeviceHandle* device_comm = nullptr;
    if constexpr (version >= 11) {
      return table_.connect(context_, device, handle, send_comm, &device_comm);
    } else if constexpr (version == 10) {
      return table_.connect(device, &config_, handle, send_comm, &device_comm);
    } else {
      return table_.connect(device, handle, send_comm, &device_comm);
    }
  }

  abi::Result accept(void* listen_comm, void** recv_comm) override {
    abi::DeviceHandle* device_comm = nullptr;
    return table_.accept(listen_comm, recv_comm, &device_comm);
  }

  abi::Result register_host_memory(void* comm, void* data, std::size_t bytes, void** mhandle) override {
    return table_.regMr(comm, data, bytes, abi::kPtrHost, mhandle);
  }
  abi::Result deregister(void* comm, void* mhandle) override { return table_.deregMr(comm, mhandle); }
  abi::Result close_send(void* comm) override { return table_.closeSend(comm); }
  abi::Result close_recv(void* comm) override { return table_.closeRecv(comm); }
  abi::Result close_listen(void* comm) override { return table_.closeListen(comm); }

  abi::Result isend(void* comm, void* data, std::size_t bytes, void* mhandle, void** request) override {
    if constexpr (version >= 10) {
      return table_.isend(comm, data, bytes, kTag, mhandle, nullptr, request);
    } else if constexpr (version == 9) {
      return table_.isend(comm, data, bytes, kTag, mhandle, request);
    } else {
      if (bytes > kLargestV8Message) return abi::kInternalError;
      return table_.isend(comm, data, static_cast<int>(bytes), kTag, mhandle, request);
    }
  }

  abi::Result irecv(void* comm, void* data, std::size_t bytes, void* mhandle, void** request) override {
    int tag = kTag;
    if constexpr (version >= 10) {
      void* profiler_handle = nullptr;
      return table_.irecv(comm, 1, &data, &bytes, &tag, &mhandle, &profiler_handle, request);
    } else if constexpr (version == 9) {
      return table_.irecv(comm, 1, &data, &bytes, &tag, &mhandle, request);
    } else {
      if (bytes > kLargestV8Message) return abi::kInternalError;
      *request = nullptr;
      int size = static_cast<int>(bytes);
      return table_.irecv(comm, 1, &data, &size, &tag, &mhandle, request);
    }
  }

  abi::Result test(void* request, int* done, int* sizes) override { return table_.test(request, done, sizes); }

 private:
  static constexpr int kTag = 0;
  static constexpr std::size_t kLargestV8Message = std::size_t{1} << 30;  // the limit of NCCL's own v8 shim

  const Table& table_;
  abi::CommConfig config_{abi::kTrafficClassUndefined};
  void* context_ = nullptr;
};

// The first function missing from `table`, or null.
template <int version>
const char* missing_function(const typename VersionTypes<version>::Table& table) {
  const std::array<std::pair<const char*, bool>, 15> required = {{{"init", table.init != nullptr},
                                                                  {"devices", table.devices != nullptr},
                                                                  {"getProperties", table.getProperties != nullptr},
                                                                  {"listen", table.listen != nullptr},
                                                                  {"connect", table.connect != nullptr},
                                                                  {"accept", table.accept != nullptr},
                                                                  {"regMr", table.regMr != nullptr},
                                                                  {"deregMr", table.deregMr != nullptr},
                                                                  {"isend", table.isend != nullptr},
                                                                  {"irecv", table.irecv != nullptr},
                                                                  {"iflush", table.iflush != nullptr},
                                                                  {"test", table.test != nullptr},
                                                                  {"closeSend", table.closeSend != nullptr},
                                                                  {"closeRecv", table.closeRecv != nullptr},
                                                                  {"closeListen", table.closeListen != nullptr}}};
  for (const auto& [name, present] : required) {
    if (!present) return name;
  }
  if constexpr (version >= 11) {
    if (table.finalize == nullptr) return "finalize";
  }
  return nullptr;
}

template <int version>
absl::StatusOr<std::unique_ptr<NetPlugin>> wrap(const void* raw) {
  const auto* const table = static_cast<const typename VersionTypes<version>::Table*>(raw);
  if (const char* const missing = missing_function<version>(*table); missing != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("ncclNetPlugin_v", version, " has a null ", missing, ", which NCCL calls without a check"));
  }
  return std::make_unique<VersionedPlugin<version>>(table);
}

const char* result_name(abi::Result result) {
  switch (result) {
    case abi::kSuccess:
      return "success";
    case abi::kUnhandledCudaError:
      return "unhandled CUDA error";
    case abi::kSystemError:
      return "system error";
    case abi::kInternalError:
      return "internal error";
    case abi::kInvalidArgument:
      return "invalid argument";
    case abi::kInvalidUsage:
      return "invalid usage";
    case abi::kRemoteError:
      return "remote error";
    case abi::kInProgress:
      return "in progress";
    case abi::kTimeout:
      return "timeout";
  }
  return "unknown result";
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetPlugin>> wrap_plugin_table(int version, const void* table) {
  switch (version) {
    case 8:
      return wrap<8>(table);
    case 9:
      return wrap<9>(table);
    case 10:
      return wrap<10>(table);
    case 11:
      return wrap<11>(table);
    case 12:
      return wrap<12>(table);
    default:
      return absl::InvalidArgumentError(absl::StrCat("net plugin version ", version, " is not one of 8 to 12"));
  }
}

absl::Status result_error(abi::Result result, const std::string& what) {
  const std::string warning = last_plugin_warning();
  return absl::InternalError(absl::StrCat(
      what, " failed: ", result_name(result), " (", static_cast<int>(result), "); ",
      warning.empty() ? "the plugin gave no warning" : absl::StrCat("the plugin's last warning: ", warning)));
}

}  // namespace cableway::collperf
