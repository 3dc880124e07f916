#include "core/view/view_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/view/events_view.h"
#include "core/view/ports_view.h"
#include "core/view/status_view.h"
#include "routing/text/absl_view.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "routing/topology_io/json_topology.h"

namespace cableway {
namespace {

// The client ends a session whose message is larger.
constexpr std::size_t kMaxViewBytes = kMaxSessionMessageBytes - 64;

constexpr View kViews[] = {
    {"topology", [](const ViewSources& from) { return routing::to_json_topology(from.topology()); }},
    {"status",
     [](const ViewSources& from) {
       return status_view(from.node, from.relay(), from.flows(), from.sessions(), from.problems(), from.keys(),
                          from.run);
     }},
    {"ports",
     [](const ViewSources& from) {
       return ports_view(from.node, from.transport, from.rejected(), from.control(), from.port_bytes);
     }},
    {"events", [](const ViewSources& from) { return events_view(from.node); }},
    {"gone", [](const ViewSources& from) { return from.gone(); }},
};

std::string no_view(std::string_view name) {
  std::vector<std::string_view> names;
  std::string listed;
  for (const View& view : kViews) {
    names.push_back(view.name);
    absl::StrAppend(&listed, listed.empty() ? "" : ", ", routing::absl_view(view.name));
  }
  return absl::StrCat("no view ", routing::in_quotes(name), routing::did_you_mean(name, names), "; there are ", listed);
}

}  // namespace

std::span<const View> all_views() {
  return kViews;
}

ViewReply answer_view(std::string_view name, const ViewSources& sources) {
  const auto* const view =
      std::find_if(std::begin(kViews), std::end(kViews), [&](const View& each) { return each.name == name; });
  if (view == std::end(kViews)) return ViewReply{no_view(name), {}};
  std::string text = view->write(sources);
  if (text.size() <= kMaxViewBytes) return ViewReply{{}, std::move(text)};
  return ViewReply{
      absl::StrCat("the view ", routing::in_quotes(name), " has ", text.size(), " bytes, at most ", kMaxViewBytes), {}};
}

}  // namespace cableway
