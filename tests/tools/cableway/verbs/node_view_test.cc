// The text of a node's answers, from the JSON of core/view/*_view.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>
#include <deque>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/verbs/events.h"
#include "tools/cableway/verbs/flows.h"
#include "tools/cableway/verbs/node_view_verb.h"
#include "tools/cableway/verbs/ports.h"
#include "tools/cableway/verbs/status.h"

namespace cableway::cli {
namespace {

// Tables have local times.
const bool kInUtc = [] {
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  return true;
}();

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kStatus[] =
    R"({"schema": 1, "node": "n1", "cluster": "lab", "version": "1.2.3", "started": "2026-03-01T12:34:56.789Z",
  "uptime_ms": 61000, "neighbours": [], "latest_events": [], "draining": true,
  "draining_cables": ["n1.eth1-n2.eth0", "n1.eth2-n0.eth1"], "addresses": [], "relay_port": 7470, "keys": [],
  "nodes": 3, "cables_up": 0, "sessions": 1,
  "problems": [{"code": "NAME_TAKEN", "interface": "eth1", "text": "two nodes are called n0", "seconds": 61,
                "since": "2026-03-01T12:35:00.000Z"},
               {"code": "CABLE_LEFT_OUT", "interface": "", "text": "cable c9: its ends do not agree", "seconds": null,
                "since": null}],
  "relayed": {"bytes": 1536, "chunks": 2, "circuits_open": 3, "circuits_opened": 4, "circuits_broken": 0,
              "setups_refused": 0},
  "relay_memory": {"bytes": 1073741824, "circuits_max": 1024, "floor_bytes": 1572864, "leases": 62, "leased": 1,
                   "leased_max": 2, "leased_bytes": 8585216, "waits": 3},
  "rdma_memory": {"registered_bytes": 0, "floor_bytes": 0, "leases": 512, "leased": 0, "leased_max": 0,
                  "leased_bytes": 0, "waits": 0},
  "own": {"flows_open": 4, "flows_opened": 6, "flows_failed": 1},
  "flows": [{"flow": "0000000000000003", "process": 4711, "node": "n2", "sends": true, "path": "n1 -> n2", "port": "eth1",
             "transport": "rdma rxe0", "reason": "both ends have it", "open_ms": 61000, "bytes": 5000000, "mbps": 20.04,
             "waits": null, "bytes_sent_again": 1048576, "reroutes": 2, "pause_ms": 31.5,
             "circuits_retired": {"failed": 2, "corrupted": 1, "stuck": 0, "closed": 4, "moved": 8}, "circuits": []},
            {"flow": "0000000000000004", "process": null, "node": "n1", "sends": false, "path": "n1 -> n1", "port": null,
             "transport": "tcp", "reason": "both ends are on this node", "open_ms": 0, "bytes": 0, "mbps": null,
             "waits": null, "bytes_sent_again": null, "reroutes": null, "pause_ms": null,
             "circuits_retired": {"failed": 0, "corrupted": 0, "stuck": 0, "closed": 1, "moved": 0}, "circuits": []}],
  "circuits": [{"flow": "00000000000000ab", "path": "n0 -c0-> n1 -c1-> n2", "chunks": 2, "bytes": 5000000, "open_ms": 4000,
                "upstream": {"transport": "tcp", "reason": "the other end offers no RDMA"},
                "downstream": {"transport": "rdma rxe1", "reason": "both ends have it"}},
               {"flow": "0000000000000001", "path": "n2 -c1-> n1 -c0-> n0", "chunks": 0, "bytes": 0, "open_ms": 0,
                "upstream": {"transport": "tcp", "reason": "CABLEWAY_TRANSPORT=tcp"},
                "downstream": {"transport": "tcp", "reason": "CABLEWAY_TRANSPORT=tcp"}}]})";

TEST(StatusText, ListsProblems) {
  EXPECT_EQ(*status_text(kStatus),
            "node n1 of cluster lab, draining: no path leads through it\n"
            "  version     1.2.3, up for 1 min 01 s, since 2026-03-01 12:34:56.789\n"
            "  draining    n1.eth1-n2.eth0, n1.eth2-n0.eth1\n"
            "  topology    3 nodes, itself included; 0 cables of this node up\n"
            "  addresses   none: see cableway ports\n"
            "  relay port  7470\n"
            "  sessions    1, this command's included\n"
            "  flows       4 of processes here open, 6 opened, 1 failed\n"
            "  relayed     1.5 KiB in 2 chunks\n"
            "  circuits    3 open, 4 opened, 0 broken, 0 set-ups refused\n"
            "  memory      1.5 MiB in floors, 8.2 MiB in leases, of 1.0 GiB; room for 1024 circuits\n"
            "  leases      1 of 62 out, at most 2 at once, waited for 3 times\n"
            "  problem     two nodes are called n0 (since 2026-03-01 12:35:00.000, for 1 min 01 s) [NAME_TAKEN]\n"
            "  problem     cable c9: its ends do not agree [CABLE_LEFT_OUT]\n"
            "\nno neighbour is heard: see cableway ports\n");
}

TEST(StatusText, ShowsVersionUptimeNeighboursAndTheNewestWarnings) {
  json status = json::parse(kStatus);
  status["neighbours"] = json::parse(R"([
    {"node": "n0", "cable": "n0.eth1-n1.eth2", "interface": "eth2", "neighbour_interface": "eth1", "state": "up",
     "draining": false, "rate_mbps": 10000, "latency_us": 12.25, "known_ms": 61000},
    {"node": "n2", "cable": "n1.eth1-n2.eth0", "interface": "eth1", "neighbour_interface": "eth0", "state": "heard",
     "draining": true, "rate_mbps": null, "latency_us": null, "known_ms": 100}])");
  status["latest_events"] = json::parse(R"([{"number": 3, "time": "2026-03-01T12:34:58.000Z", "age_ms": 2000,
    "severity": "warning", "code": "CABLE_LOST", "fields": {}, "text": "carrier lost"}])");
  const std::string text = *status_text(status.dump());
  EXPECT_THAT(text, HasSubstr("  version     1.2.3, up for 1 min 01 s, since 2026-03-01 12:34:56.789\n"));
  EXPECT_THAT(text, HasSubstr("called n0 (since 2026-03-01 12:35:00.000, for 1 min 01 s) [NAME_TAKEN]\n"));
  EXPECT_THAT(text, HasSubstr(R"(
neighbour  cable            port  its port       rate     us  state           known for
n0         n0.eth1-n1.eth2  eth2  eth1      10 Gbit/s  12.25  up             1 min 01 s
n2         n1.eth1-n2.eth0  eth1  eth0              -      -  heard, drains       0.1 s

local time                 ago  severity  code        latest warnings and errors
2026-03-01 12:34:58.000  2.0 s  warning   CABLE_LOST  carrier lost
)"));
  const std::string coloured = *status_text(status.dump(), Look{Paint(true)});
  EXPECT_THAT(coloured, HasSubstr("\x1b[32mup\x1b[0m "));
  EXPECT_THAT(coloured, HasSubstr("\x1b[33mheard, drains\x1b[0m "));
  EXPECT_THAT(coloured, HasSubstr("\x1b[33mwarning\x1b[0m "));
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;31mproblem\x1b[0m "));
}

TEST(StatusText, ShowsTheKeysIfThereAreAny) {
  json status = json::parse(kStatus);
  status["keys"] = {{{"fingerprint", "1a2b3c4d"}, {"seals", true}}};
  EXPECT_THAT(*status_text(status.dump()), HasSubstr("  keys        1a2b3c4d seals\n"));
  status["keys"].push_back({{"fingerprint", "5e6f7a8b"}, {"seals", false}});
  EXPECT_THAT(*status_text(status.dump()), HasSubstr("  keys        1a2b3c4d seals; 5e6f7a8b is accepted, too\n"));
}

TEST(StatusText, ShowsRegisteredMemoryIfThereIsAny) {
  json status = json::parse(kStatus);
  EXPECT_THAT(*status_text(kStatus), Not(HasSubstr("RDMA")));
  status["rdma_memory"]["registered_bytes"] = 65536;
  status["rdma_memory"]["floor_bytes"] = 65536;
  EXPECT_THAT(*status_text(status.dump()), HasSubstr("\n  RDMA        64.0 KiB registered, 64.0 KiB of it as floors; "
                                                     "leases: 0 of 512 out (0 bytes), at most 0 at once, waited\n"
                                                     "              for 0 times\n"));
}

TEST(FlowsText, ListsFlowsAndCircuitsWithTheirTransports) {
  EXPECT_EQ(*flows_text(kStatus),
            R"(flows of processes on node n1: 4 open

flow              process  peer     path        open for  payload  Mbit/s  reroutes, stalls    port  transport, and why
0000000000000003     4711  to n2    n1 -> n2  1 min 01 s  4.8 MiB    20.0  2: 31.5 ms, 1.0     eth1  rdma rxe0: both
                                                                           MiB again; 7              ends have it
                                                                           circuits lost
0000000000000004        -  from n1  n1 -> n1       0.0 s  0 bytes       -  -                   -     tcp: both ends are
                                                                                                     on this node
and 2 more

circuits through node n1: 3 open

flow              path                  open for  chunks  payload  mean Mbit/s  in, and why          out, and why
00000000000000ab  n0 -c0-> n1 -c1-> n2     4.0 s       2  4.8 MiB         10.0  tcp: the other end   rdma rxe1: both
                                                                                offers no RDMA       ends have it
0000000000000001  n2 -c1-> n1 -c0-> n0     0.0 s       0  0 bytes          0.0  tcp:                 tcp:
                                                                                CABLEWAY_TRANSPORT=  CABLEWAY_TRANSPORT=
                                                                                tcp                  tcp
and 1 more
)");
}

TEST(FlowsText, ShowsTheCircuitsOfAFlowThatHasSeveral) {
  json status = json::parse(kStatus);
  status["flows"][0]["circuits"] = json::parse(R"([
    {"path": "n1 -> n2", "port": "eth1", "transport": "tcp", "reason": "why", "carries": true, "share": "bundle",
     "stalled_ms": 31.5, "kept_away_ms": 0.0, "bytes": 3145728, "mbps": 20.0, "open_ms": 2000},
    {"path": "n1 -> n0 -> n2", "port": null, "transport": "tcp", "reason": "why", "carries": false, "share": "alternate",
     "stalled_ms": 0.0, "kept_away_ms": 2500.0, "bytes": 1048576, "mbps": null, "open_ms": 1000},
    {"path": "n1 -> n3 -> n2", "port": null, "transport": "tcp", "reason": "why", "carries": false, "share": "none",
     "stalled_ms": null, "kept_away_ms": null, "bytes": 0, "mbps": 0.0, "open_ms": 1000}])");
  const std::string text = *flows_text(status.dump());
  EXPECT_THAT(text, HasSubstr("  now by     n1 -> n2 "));
  EXPECT_THAT(text, HasSubstr("3.0 MiB (75 %)    20.0"));
  EXPECT_THAT(text, HasSubstr("  stalled for "));
  EXPECT_THAT(text, HasSubstr("  alternate  n1 -> n0 -> "));
  EXPECT_THAT(text, HasSubstr("  kept away "));
  EXPECT_THAT(text, HasSubstr("  standby    n1 -> n3 -> "));
  EXPECT_THAT(text, HasSubstr("1.0 MiB (25 %)       -"));
}

TEST(FlowsText, ShowsThatAFlowWaits) {
  json status = json::parse(kStatus);
  status["flows"][0]["waits"] = "node n1 port eth1: carrier lost";
  EXPECT_THAT(*flows_text(status.dump()),
              ::testing::ContainsRegex("waits for a [^\n]*\n *path: node n1 [^\n]*\n *port eth1: "));
}

TEST(WatchView, ShowsTheViewAfterEachPauseUntilTheNodeFails) {
  std::ostringstream out;
  int shown = 0;
  int pauses = 0;
  const auto show = [&]() -> absl::StatusOr<std::string> {
    if (++shown > 2) return absl::UnavailableError("the node has ended");
    return absl::StrCat("view ", shown, "\n");
  };
  EXPECT_EQ(watch_view({show, [&] { ++pauses; }, false}, out).message(), "the node has ended");
  EXPECT_EQ(out.str(), "view 1\nview 2\n");
  EXPECT_EQ(pauses, 2);
}

TEST(WatchView, BeginsAtTheTopOfATerminal) {
  std::ostringstream out;
  bool first = true;
  const auto show = [&]() -> absl::StatusOr<std::string> {
    if (!std::exchange(first, false)) return absl::UnavailableError("");
    return "view\n";
  };
  EXPECT_FALSE(watch_view({show, [] {}, true}, out).ok());
  EXPECT_EQ(out.str(), "\x1b[H\x1b[Jview\n");
}

TEST(WatchView, EndsWhenNobodyReads) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(watch_view({[] { return "view\n"; }, [] {}, false}, out).message(), "cannot write to standard output");
}

TEST(FlowsText, IsShortWithoutFlows) {
  json status = json::parse(kStatus);
  status["flows"] = status["circuits"] = json::array();
  status["own"]["flows_open"] = status["relayed"]["circuits_open"] = 0;
  EXPECT_EQ(*flows_text(status.dump()), "flows of processes on node n1: 0 open\n\ncircuits through node n1: 0 open\n");
}

TEST(FlowsJson, HasEveryField) {
  EXPECT_EQ(json::parse(*flows_json(kStatus)),
            json::parse(R"({"schema": 1, "node": "n1", "flows_left_out": 2, "circuits_left_out": 1, "flows": )" +
                        json::parse(kStatus).at("flows").dump() + R"(,
    "circuits": [
    {"flow": "00000000000000ab", "path": "n0 -c0-> n1 -c1-> n2", "chunks": 2, "bytes": 5000000, "open_ms": 4000,
     "mean_mbps": 10.0, "upstream": {"transport": "tcp", "reason": "the other end offers no RDMA"},
     "downstream": {"transport": "rdma rxe1", "reason": "both ends have it"}},
    {"flow": "0000000000000001", "path": "n2 -c1-> n1 -c0-> n0", "chunks": 0, "bytes": 0, "open_ms": 0,
     "mean_mbps": 0.0, "upstream": {"transport": "tcp", "reason": "CABLEWAY_TRANSPORT=tcp"},
     "downstream": {"transport": "tcp", "reason": "CABLEWAY_TRANSPORT=tcp"}}]})"));
}

TEST(FlowsJson, HasTheMembersOfTheStatusInTheirOrder) {
  using nlohmann::ordered_json;
  ordered_json status = ordered_json::parse(kStatus);
  status["flows"][0]["later"] = 1;
  status["circuits"][0]["later"] = 2;
  const ordered_json shown = ordered_json::parse(*flows_json(status.dump()));
  EXPECT_EQ(shown.at("flows").dump(), status.at("flows").dump());
  std::vector<std::string> members;
  for (const auto& [name, value] : shown.at("circuits").at(0).items()) members.push_back(name);
  EXPECT_THAT(members, ::testing::ElementsAre("flow", "path", "chunks", "bytes", "open_ms", "upstream", "downstream",
                                              "later", "mean_mbps"));
}

TEST(FlowsJson, RefusesMalformedFlowsAndCircuits) {
  for (const auto& [member, value] :
       {std::pair("flows", json("none")), std::pair("flows", json(nullptr)), std::pair("circuits", json(1)),
        std::pair("circuits", json(nullptr)), std::pair("circuits", json::array({"c"})),
        std::pair("circuits", json::array({json::object()})),
        std::pair("circuits", json::array({{{"open_ms", "1"}, {"bytes", 1}}}))}) {
    json status = json::parse(kStatus);
    status[member] = value;
    const auto shown = flows_json(status.dump());
    EXPECT_EQ(shown.status().code(), absl::StatusCode::kInvalidArgument) << member << " " << value;
    EXPECT_THAT(std::string(shown.status().message()), HasSubstr("the node's status cannot be parsed"));
  }
}

constexpr char kPorts[] = R"({"node": "n1", "cluster": "lab",
  "ports": [
    {"interface": "eth1", "addresses": ["10.7.0.2/30", "fe80::2%eth1/64"], "mtu": 9000, "rate_mbps": 98300,
     "link_mbps": 200000, "root": "0000:00:00.0", "root_mbps": 98300, "carrier": true, "rdma_device": "mlx5_0", "rdma_usable": true, "gid_index": 3, "roce_version": 2, "rdma_mtu": 4096,
     "rdma_trouble": null, "transport": "rdma", "transport_reason": "mlx5_0, RoCE v2, GID 3", "plug": "p0",
     "neighbours": [
       {"node": "n0", "interface": "eth0", "state": "up", "large_lost": null, "our_address": "10.7.0.2", "address": "10.7.0.1",
        "rate_mbps": 10000, "link_mbps": 10000, "latency_us": 12.25, "known_ms": 61000, "heard_ms": 90},
       {"node": "n4", "interface": "eth0", "state": "heard", "large_lost": null, "our_address": null, "address": null,
        "rate_mbps": null, "link_mbps": null, "latency_us": null, "known_ms": 100, "heard_ms": 100},
       {"node": "n0", "interface": "eth5", "state": "unpaired", "large_lost": null, "our_address": null, "address": null,
        "rate_mbps": null, "link_mbps": null, "latency_us": null, "known_ms": 100, "heard_ms": 100},
       {"node": "n5", "interface": "eth0", "state": "heard", "large_lost": "from", "our_address": null, "address": null,
        "rate_mbps": null, "link_mbps": null, "latency_us": null, "known_ms": 100, "heard_ms": 100}],
     "control": {"sent": 10, "received": 9, "oversized": 0, "foreign": 2, "own": 0, "ttl_refused": 0,
                 "send_errors": {"EPERM": 4}, "last_error": "cannot send", "not_open": ["cannot bind"]}},
    {"interface": "eth2", "addresses": ["10.7.1.1/30"], "mtu": 1500, "rate_mbps": null,
     "link_mbps": null, "root": "0002:00:00.0", "root_mbps": 98300, "carrier": false,
     "rdma_device": "mlx5_1", "rdma_usable": false, "gid_index": null, "roce_version": null, "rdma_mtu": null,
     "rdma_trouble": "mlx5_1 is not active", "transport": "refused", "transport_reason": "mlx5_1 is not active",
     "plug": null, "neighbours": [], "control": null},
    {"interface": "eth3", "addresses": ["10.7.2.1/30"], "mtu": 1500, "rate_mbps": null,
     "link_mbps": null, "root": null, "root_mbps": null, "carrier": true,
     "rdma_device": null, "rdma_usable": null, "gid_index": null, "roce_version": null, "rdma_mtu": null,
     "rdma_trouble": null, "transport": "tcp", "transport_reason": "no RDMA device behind eth3", "plug": null,
     "neighbours": [], "control": null}],
  "rejected": [{"interface": "lo", "reason": "is the loopback interface"},
               {"interface": "eth9", "reason": "is down: ip link set eth9 up"}],
  "dropped": {"garbage": 1, "refused": 0, "replayed": 0, "unknown": 5}})";

TEST(PortsText, HasEveryPortAndEveryReason) {
  EXPECT_EQ(*ports_text(kPorts), R"(ports of node n1 of cluster lab: 3

port eth1
  addresses  10.7.0.2/30, fe80::2%eth1/64
  link       200 Gbit/s, MTU 9000
  RDMA       mlx5_0, RoCE v2, GID 3, packets of 4096 bytes
  hops       rdma: mlx5_0, RoCE v2, GID 3
  PCIe root  0000:00:00.0, 98.3 Gbit/s: the port carries 98.3 Gbit/s
  plug       p0
  neighbour  node n0, its port eth0: up for 1 min 01 s, 10.7.0.2 to 10.7.0.1, 10 Gbit/s there, 12.25 us one way; last
             heard 0.0 s ago
  neighbour  node n4, its port eth0: heard, but it does not hear this node, or MTU or addresses do not match (see
             cableway doctor); last heard 0.1 s ago
  neighbour  node n0, its port eth5: on the same wire, whose cables join other ports of the two nodes; last heard 0.1 s
             ago
  neighbour  node n5, its port eth0: heard, but large packets from there are lost (see cableway doctor); last heard
             0.1 s ago
  datagrams  10 sent, 9 received, 2 foreign, 4 not sent (EPERM)
  last error cannot send
  not open   cannot bind

port eth2
  addresses  10.7.1.1/30
  link       no carrier, MTU 1500
  RDMA       mlx5_1, not usable now
  hops       refused: mlx5_1 is not active
  PCIe root  0002:00:00.0, 98.3 Gbit/s
  neighbour  none heard
  datagrams  -

port eth3
  addresses  10.7.2.1/30
  link       rate unknown, MTU 1500
  RDMA       none
  hops       tcp: no RDMA device behind eth3
  neighbour  none heard
  datagrams  -

not used  why
lo        is the loopback interface
eth9      is down: ip link set eth9 up

datagrams dropped by the node: 1 garbage, 5 unknown
)");
}

TEST(NodeViews, RefuseMalformedAnswers) {
  for (const char* text : {"", "{", "[]", "{}", R"({"node": 1})"}) {
    for (const auto& [view, name] :
         {std::pair(status_text(text), "status"), std::pair(flows_text(text), "status"),
          std::pair(flows_json(text), "status"), std::pair(ports_text(text), "ports"),
          std::pair(events_text(text, {}), "events"), std::pair(events_json(text, {}), "events")}) {
      EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument) << text;
      EXPECT_THAT(std::string(view.status().message()),
                  HasSubstr(std::string("the node's ") + name + " cannot be parsed"));
    }
  }
}

// Every third one is a warning.
json event(std::uint64_t number, std::uint64_t age_ms) {
  const bool warning = number % 3 == 0;
  return {{"number", number},
          {"time", "2026-03-01T12:34:0" + std::to_string(number % 10) + ".789Z"},
          {"age_ms", age_ms},
          {"severity", warning ? "warning" : "info"},
          {"code", warning ? "CABLE_LOST" : "CABLE_UP"},
          {"fields", {{"port", "eth1"}}},
          {"text", "event " + std::to_string(number)}};
}

std::string events(std::uint64_t first, std::uint64_t last, const std::string& incarnation = "1") {
  json list = json::array();
  for (std::uint64_t i = first; i <= last; ++i) list.push_back(event(i, 1000 * (last - i)));
  return json{
      {"schema", 1},   {"node", "n1"}, {"cluster", "lab"}, {"incarnation", incarnation}, {"left_out", json::object()},
      {"events", list}}
      .dump();
}

// One of each severity.
std::string each_severity() {
  json list = json::array();
  for (const char* severity : {"debug", "info", "warning", "error"}) {
    list.push_back(event(list.size() + 1, 0));
    list.back()["severity"] = severity;
  }
  return json{{"schema", 1},   {"node", "n1"}, {"cluster", "lab"}, {"incarnation", "1"}, {"left_out", json::object()},
              {"events", list}}
      .dump();
}

std::size_t shown_with(const EventFilter& filter) {
  return json::parse(*events_json(each_severity(), filter)).at("events").size();
}

TEST(EventsText, IsOldestFirstWithTimeAndCode) {
  EXPECT_EQ(*events_text(events(8, 10), {}),
            "local time                 ago  severity  code        what happened to node n1\n"
            "2026-03-01 12:34:08.789  2.0 s  info      CABLE_UP    event 8\n"
            "2026-03-01 12:34:09.789  1.0 s  warning   CABLE_LOST  event 9\n"
            "2026-03-01 12:34:00.789  0.0 s  info      CABLE_UP    event 10\n");
}

TEST(EventsText, IsFiltered) {
  EXPECT_EQ(*events_text(events(8, 10), {EventSeverity::kWarning, {}}),
            "local time                 ago  severity  code        what happened to node n1\n"
            "2026-03-01 12:34:09.789  1.0 s  warning   CABLE_LOST  event 9\n");
}

TEST(EventsJson, HasTheAnswersMembersAndFilteredEvents) {
  json expected = json::parse(events(8, 10));
  EXPECT_EQ(json::parse(*events_json(events(8, 10), {})), expected);
  expected["events"] = json::array({event(9, 1000)});
  EXPECT_EQ(json::parse(*events_json(events(8, 10), {EventSeverity::kInfo, {"CABLE_LOST"}})), expected);
  EXPECT_EQ(json::parse(*events_json(events(8, 10), {EventSeverity::kInfo, {"CABLE_LOST", "CABLE_UP"}})),
            json::parse(events(8, 10)));
}

TEST(EventsJson, HasEventsOfTheMinimumSeverityAndAbove) {
  EXPECT_EQ(shown_with({EventSeverity::kDebug, {}}), 4U);
  EXPECT_EQ(shown_with({}), 3U) << "debug events only on request";
  EXPECT_EQ(shown_with({EventSeverity::kWarning, {}}), 2U);
  EXPECT_EQ(shown_with({EventSeverity::kError, {}}), 1U);
}

TEST(NodeAnswer, OfALaterSchemaIsRefused) {
  json answer = json::parse(events(1, 1));
  answer["schema"] = 2;
  const auto text = events_text(answer.dump(), {});
  EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(text.status().message()),
              HasSubstr("the node's events cannot be parsed (its schema is 2; expected 1"));
}

// Gives the answers in turn, then NotFound.
class FollowEvents : public ::testing::Test {
 protected:
  absl::Status follow(std::deque<std::string> answers, bool as_json = false, EventFilter filter = {}) {
    const EventTail tail{as_json, std::move(filter),
                         [&]() -> absl::StatusOr<std::string> {
                           if (answers.empty()) return absl::NotFoundError("gone");
                           std::string answer = answers.front();
                           answers.pop_front();
                           return answer;
                         },
                         [&] { ++pauses_; }};
    return follow_events(tail, out_);
  }
  // The line of an event as printed by --follow.
  static std::string line(std::uint64_t number, const std::string& age = "0.0") {
    const json shown = event(number, 0);
    return "2026-03-01 12:34:0" + std::to_string(number) + ".789  " + age + " s ago  " +
           shown.at("severity").get<std::string>() + "  " + shown.at("code").get<std::string>() + "  event " +
           std::to_string(number) + "\n";
  }

  std::ostringstream out_;
  int pauses_ = 0;
};

TEST_F(FollowEvents, WritesEachEventOnceUntilTheNodeEnds) {
  EXPECT_EQ(follow({events(1, 2), events(1, 2), events(1, 3)}), absl::NotFoundError("gone"));
  EXPECT_EQ(out_.str(), line(1, "1.0") + line(2) + line(3));
  EXPECT_EQ(pauses_, 3);
}

TEST_F(FollowEvents, NotesLostEventsAndNewIncarnations) {
  EXPECT_FALSE(follow({events(1, 1), events(5, 5), events(1, 2, "2")}).ok());
  EXPECT_EQ(out_.str(),
            line(1) + "3 events were lost\n" + line(5) + "the node was restarted\n" + line(1, "1.0") + line(2));
}

TEST_F(FollowEvents, CountsEventsMissingAmongNewOnes) {
  json with_a_gap = json::parse(events(1, 5));
  with_a_gap["events"].erase(2);
  EXPECT_FALSE(follow({events(1, 1), with_a_gap.dump()}).ok());
  EXPECT_EQ(out_.str(), line(1) + "1 events were lost\n" + line(2, "3.0") + line(4, "1.0") + line(5));
}

TEST_F(FollowEvents, IsFiltered) {
  EXPECT_FALSE(follow({events(1, 2), events(1, 4)}, false, {EventSeverity::kWarning, {}}).ok());
  EXPECT_EQ(out_.str(), line(3, "1.0"));
}

TEST_F(FollowEvents, AsJsonHasOneObjectPerLine) {
  EXPECT_FALSE(follow({events(1, 1), events(3, 3)}, /*as_json=*/true).ok());
  std::istringstream lines(out_.str());
  std::vector<json> shown;
  for (std::string each; std::getline(lines, each);) {
    EXPECT_EQ(each.find("{\"schema\":1,"), 0U) << each;
    shown.push_back(json::parse(each));
    shown.back().erase("schema");
  }
  EXPECT_THAT(shown, ::testing::ElementsAre(event(1, 0), json{{"note", "1 events were lost"}}, event(3, 0)));
}

TEST_F(FollowEvents, EndsWhenTheOutputFails) {
  out_.setstate(std::ios::badbit);
  EXPECT_EQ(follow({events(1, 1), events(1, 1)}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(pauses_, 0);
}

TEST(QuantityText, IsShort) {
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(~std::uint64_t{0}), "16.0 EiB");
  EXPECT_EQ(rate_text(999), "999 Mbit/s");
  EXPECT_EQ(rate_text(2500), "2.5 Gbit/s");
  EXPECT_EQ(rate_text(400'000), "400 Gbit/s");
  EXPECT_EQ(age_text(59'999), "59.9 s");
  EXPECT_EQ(age_text(60'000), "1 min 00 s");
  EXPECT_EQ(age_text(3'600'000), "1 h 00 min");
  EXPECT_EQ(age_text(90'000'000), "1 d 1 h");
}

}  // namespace
}  // namespace cableway::cli
