// Network namespaces for tests, made and configured with `ip`. A socket stays in the namespace in which it was made, so
// a single thread can run nodes in several.
#ifndef CABLEWAY_TESTS_CORE_LINUX_NETWORK_NAMESPACE_H_
#define CABLEWAY_TESTS_CORE_LINUX_NETWORK_NAMESPACE_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "core/linux/os/unique_fd.h"

namespace cableway::host::test {

// Why none can be made here; empty if they can. The first call may put the whole process into a user namespace.
std::string why_no_network_namespaces();

class NetworkNamespace {
 public:
  // Moves the calling thread into the new namespace; its loopback is up.
  NetworkNamespace();
  // Returns to the namespace in which the thread was before the first.
  ~NetworkNamespace();
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  void enter() const;
  // /proc/<pid>/fd/<n>, for `ip link set X netns`.
  std::string path() const;

 private:
  UniqueFd before_;
  UniqueFd self_;
};

// Run each line as arguments of `ip` or `tc`, in the thread's namespace. A line that fails is a test failure.
void ip(const std::string& lines);
void tc(const std::string& lines);
// A new interface drops packets until the kernel has noticed its carrier.
void wait_until_running(const std::string& interface);
// Writes to /proc/sys/net.
void set_sysctl(const std::string& name, const std::string& value);

// Runs `io` until `done`. False after a limit that is long because machines may be slow.
bool runs_until(boost::asio::io_context& io, const std::function<bool()>& done);

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_NETWORK_NAMESPACE_H_
