// A host in a folder of its own: files, and programs that change them or remember what was asked of them.
#ifndef CABLEWAY_TESTS_TOOLS_CABLEWAY_UP_FAKE_HOST_H_
#define CABLEWAY_TESTS_TOOLS_CABLEWAY_UP_FAKE_HOST_H_

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/system/host_root.h"
#include "tools/cableway/system/program.h"
#include "tools/cableway/up/journal.h"

namespace cableway::cli {

class FakeHost {
 public:
  struct Link {
    int mtu = 1500;
    bool carrier = true;
    std::set<std::string> addresses = {};
    bool up = true;
  };

  FakeHost() : root_(std::filesystem::temp_directory_path() / ("fake_host." + std::to_string(::getpid()))) {
    std::filesystem::remove_all(root_);
    for (const char* folder : {"etc/cableway", "etc/netplan", "etc/sysctl.d", "usr/sbin", "var/lib",
                               "run/systemd/system", "usr/lib/systemd/system"}) {
      std::filesystem::create_directories(root_ / folder);
    }
    write("/etc/group", "root:x:0:\ncableway:x:990:\n");
    write("/usr/sbin/netplan", "");
    write("/usr/lib/systemd/system/cablewayd.service", "");
    add_link("eth1");
    add_link("eth2");
  }
  ~FakeHost() { std::filesystem::remove_all(root_); }
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;

  std::string root() const { return root_.string(); }
  std::string at(const std::string& path) const { return root() + path; }

  void write(const std::string& path, const std::string& text, mode_t mode = 0644) const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    std::ofstream(at(path)) << text;
    ::chmod(at(path).c_str(), mode);
  }
  std::string read(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(at(path)).rdbuf();
    return text.str();
  }
  bool has(const std::string& path) const { return std::filesystem::exists(at(path)); }

  // Every path with its permissions and contents, but for the lock's, which stays until the host's next start.
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      struct stat status {};
      ::lstat(entry.path().c_str(), &status);
      const std::string path = entry.path().string().substr(root().size());
      if (path == kUpLockPath) continue;
      all[path] = absl::StrCat(status.st_mode, " ", entry.is_regular_file() ? read(path) : "");
    }
    return all;
  }

  void add_link(const std::string& name) {
    links[name] = {};
    write(absl::StrCat("/proc/sys/net/ipv4/conf/", name, "/arp_ignore"), "0\n");
    write(absl::StrCat("/proc/sys/net/ipv4/conf/", name, "/arp_announce"), "0\n");
  }

  // In place of run_program().
  ProgramEnd run(const ProgramCall& call) {
    const std::string text = absl::StrJoin(call.words, " ");
    if (text == "nmcli -t -f RUNNING general") return done(nmcli_runs ? "running\n" : "");
    if (text == "ip -j address show") return done(links_json());
    const bool asks = text.find("is-enabled") != std::string::npos || text.find("is-active") != std::string::npos;
    if (!asks) commands.push_back(text);
    if (text == failing) return {.exit_status = 1, .timed_out = false, .out = "", .err = "it is broken\n"};
    return act(call.words, text);
  }

  std::map<std::string, Link> links;
  std::map<std::string, std::pair<int, std::string>> netplan;  // what `netplan apply` gives each interface
  bool nmcli_runs = false;
  bool enabled = false;
  bool active = false;
  std::string failing;                // a command that fails
  std::vector<std::string> commands;  // all that change something

 private:
  static ProgramEnd done(std::string out = "") {
    return {.exit_status = 0, .timed_out = false, .out = std::move(out), .err = ""};
  }
  static ProgramEnd no() { return {.exit_status = 1, .timed_out = false, .out = "", .err = ""}; }

  ProgramEnd act(const std::vector<std::string>& words, const std::string& text) {
    if (words[0] == "ip" && words[1] == "address") return address(words);
    if (words[0] == "ip" && words[1] == "link") set_link(words);
    if (words[0] == "chmod") ::chmod(at(words[2]).c_str(), static_cast<mode_t>(std::stoi(words[1], nullptr, 8)));
    if (text == "netplan apply") apply_netplan();
    if (words[0] == "systemctl") return systemctl(words[1]);
    if (words[0] == "gpasswd") {
      const std::string members = words[1] == "-a" ? words[2] : "";
      write("/etc/group", absl::StrCat("root:x:0:\ncableway:x:990:", members, "\n"));
    }
    if (words[0] == "groupadd") write("/etc/group", "root:x:0:\ncableway:x:990:\n");
    if (words[0] == "groupdel") write("/etc/group", "root:x:0:\n");
    return done();
  }

  // ip link set dev NAME [mtu N] [up|down]
  void set_link(const std::vector<std::string>& words) {
    Link& link = links[words[4]];
    for (std::size_t i = 5; i < words.size(); ++i) {
      if (words[i] == "mtu") link.mtu = std::stoi(words[++i]);
      if (words[i] == "up" || words[i] == "down") link.up = words[i] == "up";
    }
  }

  ProgramEnd address(const std::vector<std::string>& words) {
    std::set<std::string>& addresses = links[words[5]].addresses;
    if (words[2] == "replace") addresses.insert(words[3]);
    if (words[2] == "del" && addresses.erase(words[3]) == 0) return no();
    return done();
  }

  void apply_netplan() {
    if (read("/etc/netplan/90-cableway.yaml").find("cableway up") == std::string::npos) return;
    for (const auto& [name, wanted] : netplan) {
      links[name].mtu = wanted.first;
      links[name].addresses.insert(wanted.second);
    }
  }

  ProgramEnd systemctl(const std::string& verb) {
    if (verb == "is-enabled") return enabled ? done() : no();
    if (verb == "is-active") return active ? done() : no();
    if (verb == "enable" || verb == "disable") enabled = verb == "enable";
    if (verb == "start" || verb == "stop") active = verb == "start";
    return done();
  }

  static nlohmann::json flags_of(const Link& link) {
    nlohmann::json flags = nlohmann::json::array({"BROADCAST"});
    if (link.up) flags.push_back("UP");
    if (link.up && link.carrier) flags.push_back("LOWER_UP");
    return flags;
  }

  std::string links_json() const {
    nlohmann::json all = nlohmann::json::array();
    for (const auto& [name, link] : links) {
      nlohmann::json addresses = nlohmann::json::array();
      for (const std::string& each : link.addresses) {
        const std::size_t slash = each.find('/');
        addresses.push_back(
            {{"family", "inet"}, {"local", each.substr(0, slash)}, {"prefixlen", std::stoi(each.substr(slash + 1))}});
      }
      all.push_back({{"ifname", name}, {"mtu", link.mtu}, {"flags", flags_of(link)}, {"addr_info", addresses}});
    }
    return all.dump();
  }

  const std::filesystem::path root_;
};

// `cableway up` on that host, with a terminal or without one.
inline Outcome run_up(FakeHost& host, std::vector<std::string> arguments, std::istream& in, bool in_is_terminal,
                      std::vector<std::string> environment = {}) {
  arguments.insert(arguments.begin(), "up");
  Around around;
  around.environment = std::move(environment);
  around.adjust = [&](Surroundings& surroundings) {
    surroundings.host_root = host.root();
    surroundings.run_program = [&](const ProgramCall& call) { return host.run(call); };
    surroundings.in = &in;
    surroundings.in_is_terminal = in_is_terminal;
  };
  return run_command(arguments, around);
}

}  // namespace cableway::cli

#endif  // CABLEWAY_TESTS_TOOLS_CABLEWAY_UP_FAKE_HOST_H_
