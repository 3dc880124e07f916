#include "sim/workload/mix_file.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/hardened_toml.h"
#include "routing/text/node_name.h"

namespace cableway::workload {
namespace {

using routing::in_quotes;
using routing::line_of;

constexpr char kRanksExpected[] = "; expected ranks = [0, 1, ..], at least two";
constexpr char kAfterExpected[] = "; expected after = [\"..\"], names of groups above";

class MixReader {
 public:
  explicit MixReader(std::string_view file_name) : file_name_(file_name) {}

  absl::StatusOr<Mix> read(std::string_view text);

 private:
  absl::Status fault(std::uint32_t line, std::string_view message) const {
    return routing::toml_fault(file_name_, line, message);
  }
  absl::Status read_group(const toml::table& table);
  absl::StatusOr<std::string> read_name(const toml::table& table);
  absl::StatusOr<std::vector<int>> read_ranks(const toml::table& table) const;
  absl::StatusOr<SizedWorkload> read_workload(const toml::table& table, int ranks) const;
  absl::StatusOr<int> read_repeat(const toml::table& table) const;
  absl::StatusOr<std::vector<std::size_t>> read_after(const toml::table& table) const;

  const std::string file_name_;
  std::map<std::string, std::size_t> place_by_name_;
  Mix mix_;
};

absl::StatusOr<std::string> MixReader::read_name(const toml::table& table) {
  std::string name = absl::StrCat("group", mix_.groups.size() + 1);
  std::uint32_t line = line_of(table);
  if (const toml::node* node = table.get("name")) {
    line = line_of(*node);
    if (!node->is_string()) return fault(line, "name is not text; expected text in quotes");
    name = node->as_string()->get();
    if (!routing::is_valid_name(name, kMaxGroupNameLength)) {
      return fault(line, absl::StrCat("name ", in_quotes(name), " ", routing::name_fault(name, kMaxGroupNameLength)));
    }
  }
  if (!place_by_name_.emplace(name, mix_.groups.size()).second) {
    return fault(line, absl::StrCat("two groups are named ", in_quotes(name), "; expected names that are unique"));
  }
  return name;
}

absl::StatusOr<std::vector<int>> MixReader::read_ranks(const toml::table& table) const {
  const toml::node* node = table.get("ranks");
  if (node == nullptr) return fault(line_of(table), absl::StrCat("a group has no ranks", kRanksExpected));
  if (!node->is_array()) return fault(line_of(*node), absl::StrCat("ranks is not a list", kRanksExpected));
  std::vector<int> ranks;
  std::vector<bool> seen(kMaxRanks, false);
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_integer()) {
      return fault(line_of(element), absl::StrCat("ranks has an element that is not a number", kRanksExpected));
    }
    const std::int64_t rank = element.as_integer()->get();
    if (rank < 0 || rank >= kMaxRanks) {
      return fault(line_of(element), absl::StrCat("rank ", rank, "; expected 0 to ", kMaxRanks - 1));
    }
    const std::size_t place = static_cast<std::size_t>(rank);
    if (seen[place]) {
      return fault(line_of(element), absl::StrCat("rank ", rank, " is listed twice; expected each rank once"));
    }
    seen[place] = true;
    ranks.push_back(static_cast<int>(rank));
  }
  if (ranks.size() < 2) {
    return fault(line_of(*node),
                 absl::StrCat("ranks has ", ranks.size(), ranks.size() == 1 ? " rank" : " ranks", kRanksExpected));
  }
  return ranks;
}

absl::StatusOr<SizedWorkload> MixReader::read_workload(const toml::table& table, int ranks) const {
  constexpr char kExpected[] = "; expected workload = \"OPERATION:SIZE\", such as \"all_reduce:25MiB\"";
  const toml::node* node = table.get("workload");
  if (node == nullptr) return fault(line_of(table), absl::StrCat("a group has no workload", kExpected));
  if (!node->is_string()) return fault(line_of(*node), absl::StrCat("workload is not text", kExpected));
  absl::StatusOr<SizedWorkload> sized = parse_workload(node->as_string()->get());
  absl::Status status = sized.ok() ? check_ranks(sized->workload, ranks) : sized.status();
  if (!status.ok()) return fault(line_of(*node), std::string(status.message()));
  return sized;
}

absl::StatusOr<int> MixReader::read_repeat(const toml::table& table) const {
  const toml::node* node = table.get("repeat");
  if (node == nullptr) return 1;
  const std::string expected = absl::StrCat("; expected a whole number, 1 to ", kMaxRepeats);
  if (!node->is_integer()) return fault(line_of(*node), absl::StrCat("repeat is not a whole number", expected));
  const std::int64_t repeat = node->as_integer()->get();
  if (repeat < 1 || repeat > kMaxRepeats) {
    return fault(line_of(*node), absl::StrCat("repeat is ", repeat, expected));
  }
  return static_cast<int>(repeat);
}

absl::StatusOr<std::vector<std::size_t>> MixReader::read_after(const toml::table& table) const {
  std::vector<std::size_t> after;
  const toml::node* node = table.get("after");
  if (node == nullptr) return after;
  if (!node->is_array()) return fault(line_of(*node), absl::StrCat("after is not a list", kAfterExpected));
  std::vector<bool> seen(mix_.groups.size(), false);
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_string()) {
      return fault(line_of(element), absl::StrCat("after has an element that is not text", kAfterExpected));
    }
    const std::string& name = element.as_string()->get();
    const auto found = place_by_name_.find(name);
    if (found == place_by_name_.end() || found->second == mix_.groups.size()) {
      return fault(line_of(element), absl::StrCat("no preceding group is named ", in_quotes(name), kAfterExpected));
    }
    if (seen[found->second]) {
      return fault(line_of(element), absl::StrCat(in_quotes(name), " is listed twice; expected each group once"));
    }
    seen[found->second] = true;
    after.push_back(found->second);
  }
  std::sort(after.begin(), after.end());
  return after;
}

absl::Status MixReader::read_group(const toml::table& table) {
  absl::Status status =
      routing::check_toml_keys(table, file_name_, "[[group]]", {"name", "ranks", "workload", "repeat", "after"});
  if (!status.ok()) return status;
  absl::StatusOr<std::string> name = read_name(table);
  if (!name.ok()) return name.status();
  absl::StatusOr<std::vector<int>> ranks = read_ranks(table);
  if (!ranks.ok()) return ranks.status();
  const absl::StatusOr<SizedWorkload> workload = read_workload(table, static_cast<int>(ranks->size()));
  if (!workload.ok()) return workload.status();
  const absl::StatusOr<int> repeat = read_repeat(table);
  if (!repeat.ok()) return repeat.status();
  absl::StatusOr<std::vector<std::size_t>> after = read_after(table);
  if (!after.ok()) return after.status();
  mix_.groups.push_back({*std::move(name), *std::move(ranks), *workload, *repeat, *std::move(after)});
  return absl::OkStatus();
}

absl::StatusOr<Mix> MixReader::read(std::string_view text) {
  constexpr routing::TomlBounds kBounds = {.file_bytes = kMaxMixFileBytes, .line_bytes = kMaxMixFileLineBytes};
  constexpr char kExpected[] = "; expected one [[group]] or more";
  const absl::StatusOr<toml::table> root =
      routing::parse_hardened(text, file_name_, kBounds, "TOML with [[group]] tables");
  if (!root.ok()) return root.status();
  absl::Status status = routing::check_toml_keys(*root, file_name_, "the mix file", {"group"});
  if (!status.ok()) return status;
  const toml::node* node = root->get("group");
  if (node == nullptr) return fault(1, absl::StrCat("the file has no group", kExpected));
  if (!node->is_array()) return fault(line_of(*node), absl::StrCat("group is not a list of tables", kExpected));
  const toml::array& groups = *node->as_array();
  if (groups.empty()) return fault(line_of(*node), absl::StrCat("group is an empty list", kExpected));
  if (groups.size() > kMaxMixGroups) {
    return fault(line_of(*node),
                 absl::StrCat("the file has ", groups.size(), " groups; expected at most ", kMaxMixGroups));
  }
  for (const toml::node& element : groups) {
    if (!element.is_table()) {
      return fault(line_of(element), absl::StrCat("group has an element that is not a table", kExpected));
    }
    status = read_group(*element.as_table());
    if (!status.ok()) return status;
  }
  return std::move(mix_);
}

}  // namespace

absl::StatusOr<Mix> parse_mix(std::string_view text, std::string_view file_name) {
  return MixReader(file_name).read(text);
}

// One more than the highest rank of all groups.
int ranks_needed(const Mix& mix) {
  int highest = -1;
  for (const MixGroup& group : mix.groups) highest = std::max(highest, *std::ranges::max_element(group.ranks));
  return highest + 1;
}

}  // namespace cableway::workload
