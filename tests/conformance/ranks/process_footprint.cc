#include "tests/conformance/ranks/process_footprint.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

namespace cableway::nccl::test {
namespace {

std::string folder(pid_t process) {
  return "/proc/" + std::to_string(process);
}

}  // namespace

std::int64_t open_descriptors(pid_t process) {
  return std::distance(std::filesystem::directory_iterator(folder(process) + "/fd"),
                       std::filesystem::directory_iterator());
}

std::int64_t resident_kib(pid_t process) {
  std::ifstream status(folder(process) + "/status");
  std::string word;
  while (status >> word && word != "VmRSS:") {
  }
  std::int64_t kib = 0;
  status >> kib;
  return kib;
}

std::int64_t settled_descriptors(pid_t process, std::int64_t expected, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::int64_t open = open_descriptors(process);
  while (open > expected && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    open = open_descriptors(process);
  }
  return open;
}

std::int64_t steady_descriptors(pid_t process) {
  constexpr std::chrono::seconds kUnchanged{1};
  std::int64_t open = open_descriptors(process);
  for (auto since = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - since < kUnchanged;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (const std::int64_t now = open_descriptors(process); std::exchange(open, now) != now) {
      since = std::chrono::steady_clock::now();
    }
  }
  return open;
}

}  // namespace cableway::nccl::test
