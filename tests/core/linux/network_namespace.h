// Network namespaces for tests, made and configured with `ip`. A socket stays in the one in which it was made, so a
// single thread can have nodes in several.
#ifndef CABLEWAY_TESTS_CORE_LINUX_NETWORK_NAMESPACE_H_
#define CABLEWAY_TESTS_CORE_LINUX_NETWORK_NAMESPACE_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "core/linux/os/unique_fd.h"

namespace cableway::host::test {

// Why none can be made here; empty where they can. The first call may put the whole process into a user namespace.
std::string why_no_network_namespaces();

class NetworkNamespace {
 public:
  // The calling thread is in the new one afterwards; its loopback is up.
  NetworkNamespace();
  // Back to where the thread was before the first.
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

// Runs each line as arguments of `ip`, in the namespace that the thread is in. A line that fails is a test failure.
void ip(const std::string& lines);
// An interface that has been set up drops what it is given until the kernel has noticed its carrier.
void wait_until_running(const std::string& interface);
// Writes to /proc/sys/net.
void set_sysctl(const std::string& name, const std::string& value);

// Runs `io` until `done`. False after a time that is long because machines may be slow.
bool runs_until(boost::asio::io_context& io, const std::function<bool()>& done);

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_NETWORK_NAMESPACE_H_
