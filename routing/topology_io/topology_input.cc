#include "routing/topology_io/topology_input.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/disconnected.h"
#include "routing/topology_io/json_topology.h"
#include "routing/topology_io/topology_file.h"

namespace cableway::routing {
namespace {

struct Form {
  std::string_view ending;  // in lower case
  absl::StatusOr<Topology> (*parse)(std::string_view text, std::string_view file_name, Disconnected disconnected);
  Disconnected disconnected;
};

constexpr Form kForms[] = {
    {"", parse_topology, Disconnected::kRefused},
    {".toml", parse_topology, Disconnected::kRefused},
    {".json", parse_json_topology, Disconnected::kAccepted},
};

constexpr std::string_view kGraphEndings[] = {".dot", ".gv", ".graphml", ".xml"};

// The extension, from the last point of the last path component on; a leading point of a hidden file starts none.
std::string ending_of(std::string_view file_name) {
  const std::string_view name = file_name.substr(file_name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t point = name.rfind('.');
  if (point == std::string_view::npos || point == 0) return "";
  const std::string_view ending = name.substr(point);
  return absl::AsciiStrToLower(absl::string_view(ending.data(), ending.size()));
}

}  // namespace

absl::StatusOr<Topology> parse_topology_input(std::string_view text, std::string_view file_name) {
  const std::string ending = ending_of(file_name);
  const Form* const form =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& known) { return known.ending == ending; });
  if (form != std::end(kForms)) return form->parse(text, file_name, form->disconnected);
  const bool is_graph =
      std::find(std::begin(kGraphEndings), std::end(kGraphEndings), ending) != std::end(kGraphEndings);
  return absl::InvalidArgumentError(
      absl::StrCat(escaped(file_name),
                   ":1: ", is_graph ? "a Graphviz or GraphML graph is not read" : "unsupported file name extension ",
                   is_graph ? "" : in_quotes(ending), "; expected .toml or .json",
                   is_graph ? ": convert it with the script in docs/cli.md (man 5 cableway-topology)" : ""));
}

}  // namespace cableway::routing
