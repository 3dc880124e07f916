#include "core/linux/rdma/verbs_library.h"

#include <dlfcn.h>

#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

constexpr char kVerbsFile[] = "libibverbs.so.1";
constexpr char kInstallVerbs[] = "install rdma-core (Debian: libibverbs1 ibverbs-providers)";

// Looks up functions by the version of the interface used here, and records the first missing name.
class VerbsSymbols {
 public:
  explicit VerbsSymbols(void* library) : library_(library) {}

  template <typename Function>
  bool find(Function& function, const char* name, const char* version) const {
    function = reinterpret_cast<Function>(::dlvsym(library_, name, version));
    return function != nullptr;
  }
  template <typename Function>
  void require(Function& function, const char* name, const char* version = "IBVERBS_1.1") {
    if (!find(function, name, version) && missing_.empty()) missing_ = absl::StrCat(name, " of ", version);
  }
  const std::string& missing() const { return missing_; }

 private:
  void* const library_;
  std::string missing_;
};

void find_device_calls(VerbsSymbols& symbols, VerbsLibrary& library) {
  symbols.require(library.fork_init, "ibv_fork_init");
  symbols.require(library.get_device_list, "ibv_get_device_list");
  symbols.require(library.free_device_list, "ibv_free_device_list");
  symbols.require(library.get_device_name, "ibv_get_device_name");
  symbols.require(library.open_device, "ibv_open_device");
  symbols.require(library.close_device, "ibv_close_device");
  symbols.require(library.query_device, "ibv_query_device");
  symbols.require(library.query_old_port, "ibv_query_port");
  symbols.require(library.query_gid, "ibv_query_gid");
  static_cast<void>(symbols.find(library.query_gid_table, "_ibv_query_gid_table", "IBVERBS_1.11"));
  symbols.require(library.get_async_event, "ibv_get_async_event");
  symbols.require(library.ack_async_event, "ibv_ack_async_event");
  symbols.require(library.event_type_str, "ibv_event_type_str");
}

void find_memory_calls(VerbsSymbols& symbols, VerbsLibrary& library) {
  symbols.require(library.alloc_pd, "ibv_alloc_pd");
  symbols.require(library.dealloc_pd, "ibv_dealloc_pd");
  symbols.require(library.reg_mr, "ibv_reg_mr");
  symbols.require(library.dereg_mr, "ibv_dereg_mr");
  static_cast<void>(symbols.find(library.reg_mr_iova2, "ibv_reg_mr_iova2", "IBVERBS_1.8"));
  static_cast<void>(symbols.find(library.reg_dmabuf_mr, "ibv_reg_dmabuf_mr", "IBVERBS_1.12"));
}

void find_queue_calls(VerbsSymbols& symbols, VerbsLibrary& library) {
  symbols.require(library.create_comp_channel, "ibv_create_comp_channel", "IBVERBS_1.0");
  symbols.require(library.destroy_comp_channel, "ibv_destroy_comp_channel", "IBVERBS_1.0");
  symbols.require(library.create_cq, "ibv_create_cq");
  symbols.require(library.destroy_cq, "ibv_destroy_cq");
  symbols.require(library.get_cq_event, "ibv_get_cq_event");
  symbols.require(library.ack_cq_events, "ibv_ack_cq_events");
  symbols.require(library.create_qp, "ibv_create_qp");
  symbols.require(library.modify_qp, "ibv_modify_qp");
  symbols.require(library.destroy_qp, "ibv_destroy_qp");
  symbols.require(library.wc_status_str, "ibv_wc_status_str");
}

// Marks registrations so that a fork() does not detach the device's view of the memory. Newer kernels handle this
// themselves; there the call cannot fail.
absl::Status make_fork_safe(const VerbsLibrary& library) {
  const int error = library.fork_init();
  if (error == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("RDMA cannot be made safe for fork() (ibv_fork_init: ", std::generic_category().message(error),
                   "): other code in this process has already registered memory; start it with RDMAV_FORK_SAFE=1, "
                   "or use Linux 5.12 or later"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const VerbsLibrary>> VerbsLibrary::load(const std::string& file) {
  void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return absl::NotFoundError(absl::StrCat("this host has no ", file, ": ", kInstallVerbs, " (",
                                            reason == nullptr ? "dlopen gives no reason" : reason, ")"));
  }
  VerbsSymbols symbols(handle);
  auto library = std::make_unique<VerbsLibrary>();
  find_device_calls(symbols, *library);
  find_memory_calls(symbols, *library);
  find_queue_calls(symbols, *library);
  if (!symbols.missing().empty()) {
    static_cast<void>(::dlclose(handle));
    return absl::FailedPreconditionError(absl::StrCat(file, " has no ", symbols.missing(), ": ", kInstallVerbs, ""));
  }
  if (absl::Status status = make_fork_safe(*library); !status.ok()) return status;
  return std::unique_ptr<const VerbsLibrary>(std::move(library));
}

absl::StatusOr<const VerbsLibrary*> VerbsLibrary::of_this_process() {
  // Never destroyed: its objects may be destroyed after static ones.
  static const auto& loaded = *new absl::StatusOr<std::unique_ptr<const VerbsLibrary>>(load(kVerbsFile));
  if (!loaded.ok()) return loaded.status();
  return loaded->get();
}

int VerbsLibrary::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) const {
  *attributes = {};
  if (verbs_context* const extended = verbs_get_ctx_op(context, query_port); extended != nullptr) {
    return extended->query_port(context, port, attributes, sizeof *attributes);
  }
  // The old structure is a prefix of the new one.
  return query_old_port(context, port, reinterpret_cast<_compat_ibv_port_attr*>(attributes));
}

}  // namespace cableway::host
