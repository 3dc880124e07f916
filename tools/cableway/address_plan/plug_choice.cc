#include "tools/cableway/address_plan/plug_choice.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

using CablesAt = std::vector<std::vector<std::size_t>>;  // by host, indices of its cables

CablesAt cables_at_hosts(const std::vector<HostPair>& cables, std::size_t hosts) {
  CablesAt at(hosts);
  for (std::size_t i = 0; i < cables.size(); ++i) {
    at[cables[i].a].push_back(i);
    at[cables[i].b].push_back(i);
  }
  return at;
}

std::size_t& end_at(const HostPair& cable, ChosenPlugs& chosen, std::uint32_t host) {
  return cable.a == host ? chosen.at_a : chosen.at_b;
}

// "p3": 3
std::optional<std::size_t> number_of_plug(const std::string& plug) {
  std::size_t number = 0;
  const bool is_numbered = plug.size() > 1 && plug[0] == 'p' && plug[1] != '+' && plug[1] != '-' &&
                           absl::SimpleAtoi(plug.substr(1), &number);
  return is_numbered ? std::optional(number) : std::nullopt;
}

// By the names that the topology gives.
std::vector<ChosenPlugs> by_names(const std::vector<HostPair>& cables, const CablesAt& at,
                                  const std::vector<std::size_t>& plug_counts) {
  std::vector<ChosenPlugs> chosen(cables.size());
  for (std::uint32_t host = 0; host < at.size(); ++host) {
    const auto name_at = [&](std::size_t i) { return cables[i].a == host ? cables[i].plug_a : cables[i].plug_b; };
    std::vector<std::size_t> order = at[host];
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
      return routing::natural_less(name_at(left), name_at(right));
    });
    const bool are_numbers = std::all_of(order.begin(), order.end(), [&](std::size_t i) {
      return number_of_plug(name_at(i)).value_or(plug_counts[host]) < plug_counts[host];
    });
    for (std::size_t place = 0; place < order.size(); ++place) {
      const std::size_t i = order[place];
      end_at(cables[i], chosen[i], host) = are_numbers ? *number_of_plug(name_at(i)) : place;
    }
  }
  return chosen;
}

// Along lines and rings. A host with a single plug uses that at either end.
class Walk {
 public:
  Walk(const std::vector<HostPair>& cables, const CablesAt& at, const std::vector<std::size_t>& plug_counts)
      : cables_(cables), at_(at), plug_counts_(plug_counts), chosen_(cables.size()), done_(cables.size(), false) {}

  std::vector<ChosenPlugs> choose() && {
    for (std::uint32_t host = 0; host < at_.size(); ++host) {
      if (at_[host].size() == 1) walk_from(host);
    }
    for (std::uint32_t host = 0; host < at_.size(); ++host) walk_from(host);
    return std::move(chosen_);
  }

 private:
  void walk_from(std::uint32_t host) {
    while (true) {
      const auto next = std::find_if(at_[host].begin(), at_[host].end(), [&](std::size_t i) { return !done_[i]; });
      if (next == at_[host].end()) return;
      const HostPair& cable = cables_[*next];
      const std::uint32_t other = cable.a == host ? cable.b : cable.a;
      done_[*next] = true;
      end_at(cable, chosen_[*next], host) = 0;
      end_at(cable, chosen_[*next], other) = std::min<std::size_t>(1, plug_counts_[other] - 1);
      host = other;
    }
  }

  const std::vector<HostPair>& cables_;
  const CablesAt& at_;
  const std::vector<std::size_t>& plug_counts_;
  std::vector<ChosenPlugs> chosen_;
  std::vector<bool> done_;
};

std::vector<ChosenPlugs> in_order(const std::vector<HostPair>& cables, std::size_t hosts) {
  std::vector<std::size_t> used(hosts, 0);
  std::vector<ChosenPlugs> chosen;
  chosen.reserve(cables.size());
  for (const HostPair& cable : cables) chosen.push_back({used[cable.a]++, used[cable.b]++});
  return chosen;
}

}  // namespace

std::vector<ChosenPlugs> choose_plugs(const std::vector<HostPair>& cables,
                                      const std::vector<std::size_t>& plug_counts) {
  const CablesAt at = cables_at_hosts(cables, plug_counts.size());
  const bool are_named = std::all_of(cables.begin(), cables.end(), [](const HostPair& cable) {
    return !cable.plug_a.empty() && !cable.plug_b.empty();
  });
  if (are_named) return by_names(cables, at, plug_counts);
  const bool can_be_walked =
      std::all_of(at.begin(), at.end(), [](const auto& cables_here) { return cables_here.size() <= 2; });
  return can_be_walked ? Walk(cables, at, plug_counts).choose() : in_order(cables, plug_counts.size());
}

}  // namespace cableway::cli
