#include "tests/nccl_adapter/rank.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#ifdef CABLEWAY_ADDRESS_SANITIZER
// At exit the leak checker walks the thread-local storage of every library, and crashes on that of the
// plugin, which is closed but stays mapped (-z nodelete). The sanitizer's other checks remain enabled.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

namespace cableway::nccl::test {
namespace {

struct WarningLog {
  std::mutex mutex;
  std::vector<std::string> lines;
};

WarningLog& warning_log() {
  static WarningLog& log = *new WarningLog;
  return log;
}

void logger(abi::LogLevel level, unsigned long flags, const char*, int, const char* format, ...) {
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (flags == 0) std::abort();  // NCCL would drop it
  if (level != abi::kLogWarn) return;
  const std::lock_guard lock(warning_log().mutex);
  warning_log().lines.emplace_back(line);
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "rank: %s\n", why.c_str());
  for (const std::string& line : warnings()) std::fprintf(stderr, "rank: %s\n", line.c_str());
  std::abort();
}

collperf::PluginLibrary open_plugin(int version) {
  auto library = collperf::PluginLibrary::open(CABLEWAY_PLUGIN, version);
  if (!library.ok()) give_up(library.status().ToString());
  return *std::move(library);
}

constexpr std::chrono::seconds kConnectLimit{30};

// The pause between two polls. Short waits are polled without rest, as by NCCL; long waits leave the processor to the
// other ranks and nodes, of which there are more than processors here.
class Pauses {
 public:
  void pause() const {
    if (std::chrono::steady_clock::now() < restless_until_) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

 private:
  const std::chrono::steady_clock::time_point restless_until_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
};

}  // namespace

std::vector<std::string> warnings() {
  const std::lock_guard lock(warning_log().mutex);
  return warning_log().lines;
}

std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::byte> out(bytes);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::byte& byte : out) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::byte>(state >> 56);
  }
  return out;
}

abi::Result result_of_init(int version) {
  collperf::PluginLibrary library = open_plugin(version);
  const abi::Result result = library.net().init(7, logger);
  library.net().finalize();
  return result;
}

Rank::Rank(int version) : library_(open_plugin(version)) {
  if (const abi::Result result = net().init(7, logger); result != abi::kSuccess) {
    give_up("init failed: " + std::to_string(result));
  }
}

Rank::~Rank() {
  net().finalize();
}

std::pair<Handle, void*> Rank::listen() {
  Handle handle{};
  void* comm = nullptr;
  if (net().listen(0, handle.data(), &comm) != abi::kSuccess || comm == nullptr) give_up("listen failed");
  return {handle, comm};
}

void* Rank::connect(Handle handle, abi::Result* result) {
  const auto end = std::chrono::steady_clock::now() + kConnectLimit;
  const Pauses pauses;
  while (std::chrono::steady_clock::now() < end) {
    void* comm = nullptr;
    const abi::Result now = net().connect(0, handle.data(), &comm);
    if (result != nullptr) *result = now;
    if (now != abi::kSuccess) {
      if (result == nullptr) give_up("connect failed: " + std::to_string(now));
      return nullptr;
    }
    if (comm != nullptr) return comm;
    pauses.pause();
  }
  give_up("connect took too long");
}

void* Rank::accept(void* listen_comm) {
  const auto end = std::chrono::steady_clock::now() + kConnectLimit;
  const Pauses pauses;
  while (std::chrono::steady_clock::now() < end) {
    void* comm = nullptr;
    if (net().accept(listen_comm, &comm) != abi::kSuccess) give_up("accept failed");
    if (comm != nullptr) return comm;
    pauses.pause();
  }
  give_up("accept took too long");
}

std::pair<void*, void*> Rank::connect_to_self() {
  auto [handle, listener] = listen();
  void* sender = connect(handle);
  void* receiver = accept(listener);
  net().close_listen(listener);
  return {sender, receiver};
}

Buffer Rank::make_buffer(void* comm, std::size_t bytes, std::uint64_t seed) {
  Buffer buffer;
  buffer.bytes = pattern(bytes, seed);
  if (net().register_host_memory(comm, buffer.bytes.data(), bytes, &buffer.mhandle) != abi::kSuccess) {
    give_up("regMr failed");
  }
  return buffer;
}

void* Rank::post_send(void* comm, const Buffer& buffer, std::size_t bytes) {
  void* request = nullptr;
  auto* data = const_cast<std::byte*>(buffer.bytes.data());
  if (net().isend(comm, data, bytes, buffer.mhandle, &request) != abi::kSuccess) return nullptr;
  return request;
}

void* Rank::post_receive(void* comm, const Buffer& buffer, std::size_t bytes) {
  // The hint that NCCL leaves in *request from v9 on; the plugin must not treat it as a request.
  void* request = net().abi_version() >= 9 ? reinterpret_cast<void*>(abi::kOptionalRecvCompletion) : nullptr;
  auto* data = const_cast<std::byte*>(buffer.bytes.data());
  if (net().irecv(comm, data, bytes, buffer.mhandle, &request) != abi::kSuccess) return nullptr;
  return request;
}

Outcome Rank::finish(void* request, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  const Pauses pauses;
  Outcome outcome;
  while (std::chrono::steady_clock::now() < end) {
    int done = -1;
    int bytes = 0;
    outcome.result = net().test(request, &done, &bytes);
    if (outcome.result != abi::kSuccess) return outcome;
    if (done < 0) give_up("test did not write done");
    outcome.done = done == 1;
    outcome.bytes = bytes;
    if (outcome.done) return outcome;
    pauses.pause();
  }
  return outcome;
}

}  // namespace cableway::nccl::test
