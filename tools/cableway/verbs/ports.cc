#include "tools/cableway/verbs/ports.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/cableway/all_nodes/all_nodes_views.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"
#include "tools/cableway/verbs/node_view_verb.h"

namespace cableway::cli {
namespace {

std::string rate_or_unknown(const Json& object, const char* member) {
  const Json& rate = object.at(member);
  return rate.is_null() ? "rate unknown" : rate_text(whole_number(rate));
}

// "0000:00:00.0, 98.3 Gbit/s: the port carries 98.3 Gbit/s"
std::string root_text(const Json& port) {
  const std::string root = absl::StrCat(text(port, "root"), ", ", rate_or_unknown(port, "root_mbps"));
  const bool is_limit = !port.at("rate_mbps").is_null() && port.at("rate_mbps") != port.at("link_mbps");
  return is_limit ? absl::StrCat(root, ": the port carries ", rate_or_unknown(port, "rate_mbps")) : root;
}

std::string latency_or_unknown(const Json& neighbour) {
  const Json& latency = neighbour.at("latency_us");
  return latency.is_null() ? "latency -" : absl::StrCat(latency_text(latency.get<double>()), " one way");
}

std::string rdma_text(const Json& port) {
  if (port.at("rdma_device").is_null()) return "none";
  const std::string device = text(port, "rdma_device");
  if (!port.at("rdma_usable").get<bool>()) return absl::StrCat(device, ", not usable now");
  const std::string mtu =
      port.at("rdma_mtu").is_null() ? "" : absl::StrCat(", packets of ", number(port, "rdma_mtu"), " bytes");
  return absl::StrCat(device, ", RoCE v", number(port, "roce_version"), ", GID ", number(port, "gid_index"), mtu);
}

std::string lost_text(const Json& neighbour) {
  const std::string lost = text(neighbour, "large_lost");
  const std::string direction = lost == "both" ? "in both directions" : lost == "from" ? "from there" : "to it";
  return absl::StrCat("large packets ", direction, " are lost (see cableway doctor)");
}

std::string neighbour_line(const Json& neighbour, const Paint& paint) {
  const std::string who =
      absl::StrCat("node ", text(neighbour, "node"), ", its port ", text(neighbour, "interface"), ": ");
  const std::string heard = absl::StrCat("last heard ", age_text(number(neighbour, "heard_ms")), " ago");
  if (text(neighbour, "state") == "unpaired") {
    return absl::StrCat(who, "on the same wire, whose cables join other ports of the two nodes; ", heard);
  }
  if (!neighbour.at("large_lost").is_null())
    return absl::StrCat(who, paint.state("heard"), ", but ", lost_text(neighbour), "; ", heard);
  if (text(neighbour, "state") != "up") {
    return absl::StrCat(who, paint.state("heard"),
                        ", but it does not hear this node, or MTU or addresses do not match (see cableway doctor); ",
                        heard);
  }
  return absl::StrCat(who, paint.state("up"), " for ", age_text(number(neighbour, "known_ms")), ", ",
                      text(neighbour, "our_address"), " to ", text(neighbour, "address"), ", ",
                      rate_or_unknown(neighbour, "rate_mbps"), " there, ", latency_or_unknown(neighbour), "; ", heard);
}

// Error counters are shown only if they are not zero.
std::string control_text(const Json& control) {
  if (control.is_null()) return "-";
  std::string line = absl::StrCat(number(control, "sent"), " sent, ", number(control, "received"), " received");
  for (const char* name : {"oversized", "foreign", "own", "ttl_refused"}) {
    if (number(control, name) > 0) absl::StrAppend(&line, ", ", number(control, name), " ", name);
  }
  for (const auto& [error, count] : control.at("send_errors").items()) {
    absl::StrAppend(&line, ", ", whole_number(count), " not sent (", error, ")");
  }
  return line;
}

std::string port_text(const Json& port, const Look& look) {
  std::string lines = absl::StrCat("port ", text(port, "interface"), "\n");
  const auto add = [&](const char* lead, const std::string& text) { lines += look.lines(lead, text); };
  const Json& addresses = port.at("addresses");
  add("  addresses  ", absl::StrJoin(addresses.get<std::vector<std::string>>(), ", "));
  const std::string link = port.at("carrier").get<bool>() ? rate_or_unknown(port, "link_mbps")
                                                          : look.paint(Paint::Tone::kError, "no carrier");
  add("  link       ", absl::StrCat(link, ", MTU ", number(port, "mtu")));
  add("  RDMA       ", rdma_text(port));
  add("  hops       ", absl::StrCat(text(port, "transport"), ": ", text(port, "transport_reason")));
  if (!port.at("root").is_null()) add("  PCIe root  ", root_text(port));
  if (!port.at("plug").is_null()) add("  plug       ", text(port, "plug"));
  const Json& neighbours = port.at("neighbours");
  if (neighbours.empty()) add("  neighbour  ", "none heard");
  for (const Json& neighbour : neighbours) add("  neighbour  ", neighbour_line(neighbour, look.paint));
  const Json& control = port.at("control");
  add("  datagrams  ", control_text(control));
  if (control.is_null()) return lines;
  if (!control.at("last_error").is_null()) add("  last error ", text(control, "last_error"));
  for (const Json& reason : control.at("not_open")) add("  not open   ", reason.get<std::string>());
  return lines;
}

std::string rejected_text(const Json& rejected) {
  if (rejected.empty()) return "";
  TextTable table({{"not used"}, {"why", TextTable::Align::kLeft, TextTable::Fit::kWrap}});
  for (const Json& each : rejected) table.add_row({text(each, "interface"), text(each, "reason")});
  return absl::StrCat("\n", table.text());
}

}  // namespace

std::unique_ptr<Verb> ports_verb() {
  return node_view_verb(
      {.name = "ports",
       .summary =
           "every port with its addresses, rate, RDMA device and neighbours, and every unused interface with the "
           "reason",
       .notes = all_nodes_notes(
           "a row for each port of each node; with --watch its rates since the last time, as the kernel and RDMA "
           "adapters count them."),
       .examples = {"cableway ports", "cableway ports --all --watch", "cableway ports --json | jq '.rejected'"},
       .view = "ports",
       .as_text = ports_text,
       .as_json = [](const std::string& answer) { return answer_as_json(answer, "ports"); },
       .watchable = true,
       .of_all = ShownOfAll{"ports", all_ports_text, all_ports_json}});
}

absl::StatusOr<std::string> ports_text(const std::string& answer, const Look& look) {
  return render_answer(answer, "ports", [&](const Json& view) {
    std::string lines = absl::StrCat("ports of node ", text(view, "node"), " of cluster ", text(view, "cluster"), ": ",
                                     view.at("ports").size(), "\n");
    for (const Json& port : view.at("ports")) absl::StrAppend(&lines, "\n", port_text(port, look));
    absl::StrAppend(&lines, rejected_text(view.at("rejected")));
    const Json& dropped = view.at("dropped");
    std::string drops;
    for (const auto& [name, count] : dropped.items()) {
      if (whole_number(count) > 0) absl::StrAppend(&drops, drops.empty() ? "" : ", ", whole_number(count), " ", name);
    }
    if (!drops.empty()) absl::StrAppend(&lines, "\ndatagrams dropped by the node: ", drops, "\n");
    return lines;
  });
}

}  // namespace cableway::cli
