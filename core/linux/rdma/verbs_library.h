// libibverbs, loaded at run time, so that Cableway's binaries also load on hosts without rdma-core. Uses the library's
// headers and their inline functions; all other functions are called through this table, and nothing links against the
// library.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_LIBRARY_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_LIBRARY_H_

#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// The library's functions, each under its own name without "ibv_" and with its own contract. Callable from any thread.
struct VerbsLibrary {
  // This process's instance, loaded by the first call and never unloaded. A failure of that call is returned by every
  // later one.
  static absl::StatusOr<const VerbsLibrary*> of_this_process();
  // Loads the library and, before any other call, makes fork() safe for later registrations. NotFound and
  // FailedPrecondition name what is missing and its source.
  static absl::StatusOr<std::unique_ptr<const VerbsLibrary>> load(const std::string& file);

  // For the header's inline ibv_query_port(), which calls a library function.
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) const;

  decltype(&::ibv_fork_init) fork_init = nullptr;
  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_get_device_name) get_device_name = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  decltype(&::ibv_query_device) query_device = nullptr;
  decltype(&::ibv_query_port) query_old_port = nullptr;
  decltype(&::ibv_query_gid) query_gid = nullptr;
  decltype(&::ibv_get_async_event) get_async_event = nullptr;
  decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
  decltype(&::ibv_event_type_str) event_type_str = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  decltype(&::ibv_reg_mr) reg_mr = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
  decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_wc_status_str) wc_status_str = nullptr;
  // Null if the library is too old for them.
  decltype(&::ibv_reg_mr_iova2) reg_mr_iova2 = nullptr;    // rdma-core 28
  decltype(&::ibv_reg_dmabuf_mr) reg_dmabuf_mr = nullptr;  // rdma-core 34
  // What the header's inline ibv_query_gid_table() calls; rdma-core 32.
  decltype(&::_ibv_query_gid_table) query_gid_table = nullptr;
};

// Destroys objects of the library. Its errors are ignored, because no caller could handle them.
struct VerbsRelease {
  const VerbsLibrary* library = nullptr;

  void operator()(ibv_device** list) const { library->free_device_list(list); }
  void operator()(ibv_context* context) const { static_cast<void>(library->close_device(context)); }
  void operator()(ibv_pd* domain) const { static_cast<void>(library->dealloc_pd(domain)); }
  void operator()(ibv_mr* region) const { static_cast<void>(library->dereg_mr(region)); }
  void operator()(ibv_comp_channel* channel) const { static_cast<void>(library->destroy_comp_channel(channel)); }
  void operator()(ibv_cq* queue) const { static_cast<void>(library->destroy_cq(queue)); }
  void operator()(ibv_qp* pair) const { static_cast<void>(library->destroy_qp(pair)); }
};
template <typename T>
using VerbsOwned = std::unique_ptr<T, VerbsRelease>;

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_LIBRARY_H_
