#include "tools/cableway/picture/gone_drawing.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/text/local_time.h"

namespace cableway::cli {
namespace {

std::string gone_end_text(const GoneEnd& end) {
  return absl::StrCat(end.node, end.interface.empty() ? "" : " ", end.interface, " ", end.address);
}

}  // namespace

MarkedTopology with_gone_cables(const routing::Topology& found, std::optional<routing::NodeIndex> self,
                                const GoneCables& gone) {
  PictureMarks marks{.cables = {}, .looks = looks_by_name(found, self), .remark = {}};
  std::vector<routing::Cable> cables(found.plugged_cables().begin(), found.plugged_cables().end());
  // Their addresses may be another cable's by now, so they get some of the dummy prefix 100:0:0:1::/64 (RFC 9780), of
  // which switch_boxes.h uses another part.
  const auto address = [&](int end) { return absl::StrFormat("100:0:0:1:2::%x:%d", marks.cables.size(), end); };
  for (const GoneCable& each : gone) {
    const auto a = found.find_node(each.a.node);
    const auto b = found.find_node(each.b.node);
    if (!a || !b || a == b || found.find_plugged(each.name) != nullptr) continue;
    CableMark mark{CableMark::Kind::kGone, "gone"};
    mark.about = absl::StrCat(each.name, ": ", gone_end_text(each.a), " - ", gone_end_text(each.b), ", gone since ",
                              local_time_text(each.since));
    if (!marks.cables.emplace(each.name, std::move(mark)).second) continue;
    cables.push_back({.name = each.name,
                      .a = {.node = *a, .interface = {}, .address = address(1)},
                      .b = {.node = *b, .interface = {}, .address = address(2)},
                      .rate_mbps = each.rate_mbps});
  }
  absl::StatusOr<routing::Topology> drawn =
      routing::Topology::create(found.cluster(), {found.nodes().begin(), found.nodes().end()}, std::move(cables));
  if (!drawn.ok()) return {found, {.cables = {}, .looks = std::move(marks.looks), .remark = {}}};
  return {*std::move(drawn), std::move(marks)};
}

}  // namespace cableway::cli
