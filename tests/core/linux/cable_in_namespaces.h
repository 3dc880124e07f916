// A cable between two hosts: a pair of interfaces, `near` and `far`, each in a namespace of its own.
#ifndef CABLEWAY_TESTS_CORE_LINUX_CABLE_IN_NAMESPACES_H_
#define CABLEWAY_TESTS_CORE_LINUX_CABLE_IN_NAMESPACES_H_

#include <net/if.h>

#include "core/ports/port_inventory.h"
#include "tests/core/linux/network_namespace.h"

namespace cableway::host::test {

class CableInNamespaces {
 public:
  // With 10.9.0.1 and fd00:9::1 at `near`, 10.9.0.2 and fd00:9::2 at `far`. The thread is at `near` then.
  CableInNamespaces() {
    ip("link add near type veth peer name far netns " + far_.path());
    near_interface_ = set_up("near", "1");
    at_far();
    far_interface_ = set_up("far", "2");
    at_near();
    wait_until_running("near");
  }

  void at_near() const { near_.enter(); }
  void at_far() const { far_.enter(); }
  PortId near_interface() const { return near_interface_; }
  PortId far_interface() const { return far_interface_; }
  // "up" or "down". The thread is at `near` then.
  void set_far(const std::string& state) const {
    at_far();
    ip("link set far " + state);
    at_near();
  }

 private:
  static PortId set_up(const std::string& interface, const std::string& host) {
    ip("address add 10.9.0." + host + "/24 dev " + interface);
    ip("address add fd00:9::" + host + "/64 dev " + interface + " nodad");
    ip("link set " + interface + " up");
    return ::if_nametoindex(interface.c_str());
  }

  NetworkNamespace far_;
  NetworkNamespace near_;
  PortId near_interface_ = 0;
  PortId far_interface_ = 0;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_CABLE_IN_NAMESPACES_H_
