#include "tools/collperf/connections.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace cableway::collperf {

namespace {

namespace abi = nccl::abi;

}  // namespace

std::string describe(const ConnectionKey& key) {
  return absl::StrCat(key.sending ? "to rank " : "from rank ", key.peer, " (channel ", key.channel, ")");
}

template <typename Call>
abi::Result ConnectionTable::guard(const char* name, Call call) {
  control_.call.store(name, std::memory_order_relaxed);
  const abi::Result result = call();
  control_.call.store(nullptr, std::memory_order_relaxed);
  control_.heartbeat.fetch_add(1, std::memory_order_relaxed);
  return result;
}

absl::StatusOr<std::string> ConnectionTable::listen(const Schedule& schedule) {
  for (const ConnectionKey& key : workload::lanes_of(schedule)) {
    if (!connections_.contains(key)) pending_.try_emplace(key);
  }
  nlohmann::json entries = nlohmann::json::array();
  for (auto& entry : pending_) {
    const ConnectionKey& key = entry.first;
    Pending& pending = entry.second;
    if (key.sending) continue;
    const abi::Result result =
        guard("listen", [&] { return net_.listen(device_, pending.handle.data(), &pending.listen_comm); });
    if (result != abi::kSuccess) return result_error(result, absl::StrCat("listen for ", describe(key)));
    if (pending.listen_comm == nullptr) return absl::InternalError("listen succeeded without a listen comm");
    entries.push_back(
        {{"source", key.peer},
         {"channel", key.channel},
         {"handle", nlohmann::json::binary(std::vector<std::uint8_t>(pending.handle.begin(), pending.handle.end()))}});
  }
  const std::vector<std::uint8_t> packed = nlohmann::json::to_cbor(entries);
  return std::string(packed.begin(), packed.end());
}

absl::Status ConnectionTable::read_handles(const std::vector<std::string>& handles) {
  std::map<ConnectionKey, nlohmann::json> offered;
  for (std::size_t rank = 0; rank < handles.size(); ++rank) {
    const nlohmann::json entries = nlohmann::json::from_cbor(handles[rank], true, /*allow_exceptions=*/false);
    for (const nlohmann::json& entry : entries) {
      if (!entry.is_object() || !entry.contains("handle") || entry.value("source", nlohmann::json()) != rank_) continue;
      const nlohmann::json channel = entry.value("channel", nlohmann::json());
      if (!channel.is_number_integer()) continue;
      offered[{true, static_cast<int>(rank), channel.get<int>()}] = entry["handle"];
    }
  }
  for (auto& [key, pending] : pending_) {
    if (!key.sending) continue;
    const auto it = offered.find(key);
    if (it == offered.end() || !it->second.is_binary() || it->second.get_binary().size() != pending.handle.size()) {
      return absl::InternalError(absl::StrCat("rank ", key.peer, " does not listen for rank ", rank_, " on channel ",
                                              key.channel, ": use the same build of collperf on all ranks"));
    }
    std::ranges::copy(it->second.get_binary(), pending.handle.begin());
  }
  return absl::OkStatus();
}

absl::Status ConnectionTable::poll_once(const ConnectionKey& key, Pending& pending) {
  const char* const function = key.sending ? "connect" : "accept";
  const abi::Result result = guard(function, [&] {
    return key.sending ? net_.connect(device_, pending.handle.data(), &pending.comm)
                       : net_.accept(pending.listen_comm, &pending.comm);
  });
  if (result != abi::kSuccess) return result_error(result, absl::StrCat(function, " ", describe(key)));
  if (pending.comm == nullptr || key.sending) return absl::OkStatus();
  // NCCL closes the listen comm right after the accept.
  void* const listen_comm = std::exchange(pending.listen_comm, nullptr);
  const abi::Result closed = guard("closeListen", [&] { return net_.close_listen(listen_comm); });
  return closed == abi::kSuccess ? absl::OkStatus() : result_error(closed, absl::StrCat("closeListen ", describe(key)));
}

std::string ConnectionTable::pending_list() const {
  std::vector<std::string> list;
  for (const auto& [key, pending] : pending_) {
    if (list.size() == 8) {
      list.push_back("and more");
      break;
    }
    list.push_back(describe(key));
  }
  return absl::StrJoin(list, ", ");
}

absl::Status ConnectionTable::establish(const std::vector<std::string>& handles, std::chrono::milliseconds timeout) {
  if (absl::Status status = read_handles(handles); !status.ok()) return status;
  const Clock::time_point deadline = Clock::now() + timeout;
  while (!pending_.empty()) {
    for (auto it = pending_.begin(); it != pending_.end();) {
      auto& [key, pending] = *it;
      if (absl::Status status = poll_once(key, pending); !status.ok()) return status;
      if (pending.comm == nullptr) {
        ++it;
        continue;
      }
      Connection& connection = connections_[key];
      connection.comm = pending.comm;
      if (absl::Status status = register_memory(key, connection); !status.ok()) return status;
      it = pending_.erase(it);
    }
    if (control_.stop.load(std::memory_order_relaxed)) return absl::CancelledError("stopped");
    if (!pending_.empty() && Clock::now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("connections missing after ", seconds_of(timeout), " s: ", pending_list()));
    }
    sched_yield();
  }
  return absl::OkStatus();
}

absl::Status ConnectionTable::register_memory(const ConnectionKey& key, Connection& connection) {
  for (int index = 0; index < kAreas; ++index) {
    const HostMemory::Area& area = memory_.area(index);
    if (area.bytes == 0) continue;
    void** const mhandle = &connection.mhandles[static_cast<std::size_t>(index)];
    const abi::Result result =
        guard("regMr", [&] { return net_.register_host_memory(connection.comm, area.data, area.bytes, mhandle); });
    if (result != abi::kSuccess) {
      *mhandle = nullptr;
      return result_error(result, absl::StrCat("regMr of ", area.bytes, " bytes for the connection ", describe(key)));
    }
  }
  return absl::OkStatus();
}

absl::Status ConnectionTable::close_one(const ConnectionKey& key, Connection& connection) {
  absl::Status first;
  const auto keep = [&](abi::Result result, const char* function) {
    if (result != abi::kSuccess && first.ok()) first = result_error(result, absl::StrCat(function, " ", describe(key)));
  };
  for (void* mhandle : connection.mhandles) {
    if (mhandle == nullptr) continue;
    keep(guard("deregMr", [&] { return net_.deregister(connection.comm, mhandle); }), "deregMr");
  }
  if (key.sending) {
    keep(guard("closeSend", [&] { return net_.close_send(connection.comm); }), "closeSend");
  } else {
    keep(guard("closeRecv", [&] { return net_.close_recv(connection.comm); }), "closeRecv");
  }
  return first;
}

absl::Status ConnectionTable::close() {
  absl::Status first;
  for (auto& [key, connection] : connections_) {
    if (absl::Status status = close_one(key, connection); first.ok()) first = status;
  }
  connections_.clear();
  for (auto& entry : pending_) {
    void* const listen_comm = std::exchange(entry.second.listen_comm, nullptr);
    if (listen_comm == nullptr) continue;
    const abi::Result result = guard("closeListen", [&] { return net_.close_listen(listen_comm); });
    if (result != abi::kSuccess && first.ok()) first = result_error(result, "closeListen");
  }
  pending_.clear();
  return first;
}

}  // namespace cableway::collperf
