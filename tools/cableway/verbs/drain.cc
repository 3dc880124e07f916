#include "tools/cableway/verbs/drain.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/text/json_schema.h"
#include "routing/topology/short_cable_names.h"
#include "tools/cableway/drain/crossing_circuits.h"
#include "tools/cableway/drain/drain_report.h"
#include "tools/cableway/drain/drain_target.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/progress_line.h"

namespace cableway::cli {
namespace {

// Half a second apart. What processes report of their flows is up to a second old.
constexpr int kQuietQueries = 3;
constexpr int kMaxTimeoutS = 86400;
constexpr int kTimeoutS = 30;

absl::StatusOr<CrossingCircuits> ask_for_crossing(const Invocation& invocation, const DrainTarget& target) {
  const absl::StatusOr<NodeView> status =
      ask_node(invocation.settings, "status", invocation.surroundings.node_deadline);
  if (!status.ok()) return status.status();
  return read_answer<CrossingCircuits>(status->text, "status",
                                       [&](const Json& json) { return crossing_circuits(json, target); });
}

// Waits until no circuit crosses the target, for at most that long. Returns the circuits that are left.
absl::StatusOr<CrossingCircuits> wait_until_empty(const Invocation& invocation, const DrainTarget& target,
                                                  std::chrono::seconds timeout) {
  const auto began = std::chrono::steady_clock::now();
  ProgressLine progress(invocation.err, invocation.surroundings.err_is_terminal,
                        invocation.surroundings.progress_patience);
  int quiet = 0;
  while (true) {
    absl::StatusOr<CrossingCircuits> crossing = ask_for_crossing(invocation, target);
    if (!crossing.ok()) return crossing;
    quiet = crossing->none() ? quiet + 1 : 0;
    const auto waited = std::chrono::steady_clock::now() - began;
    if (quiet == kQuietQueries || waited >= timeout) return crossing;
    const double share = std::chrono::duration<double>(waited) / std::chrono::duration<double>(timeout);
    progress.show(std::min(share, 1.0), absl::StrCat(describe(target), " drains: ", describe(*crossing), " left"));
    invocation.surroundings.pause();
  }
}

std::string drained_text(const DrainTarget& target) {
  return absl::StrCat(describe(target),
                      target.is_cable() ? " drains: no circuit leads over it\n" : " drains: it relays no circuit\n");
}

std::string not_empty_text(const routing::Topology& topology, const DrainTarget& target, const CrossingCircuits& left,
                           int timeout_s) {
  const std::string paths = routing::ShortCableNames(topology).in_text(absl::StrJoin(left.paths, "; "));
  return absl::StrCat(describe(target), " drains, but after ", timeout_s, " s ", describe(left),
                      left.circuits == 1 ? " still leads there" : " still lead there",
                      paths.empty() ? "" : absl::StrCat(" (", paths, ")"),
                      ". Flows without another path stay: see cableway flows");
}

Json as_json(const DrainTarget& target, bool draining) {
  return {{routing::kSchemaMember, routing::kJsonSchema},
          {"node", target.node},
          {"cable", target.is_cable() ? Json(target.cable) : Json(nullptr)},
          {"draining", draining}};
}

class DrainVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "drain",
            .summary =
                "takes the node here, or one of its cables, out of use: no path leads there any more, running flows\n"
                "move to other paths without a pause, and the command returns once no circuit is left",
            .notes =
                "Flows that begin or end at a draining node go on. Hellos, pulses and cable tests cross a draining "
                "cable as before.\n\n"
                "A cable drains until `cableway undrain` is run at the same end, or cablewayd restarts there.",
            .exit_statuses = {{kDone, "nothing leads there"},
                              {kFailed, "circuits are left after the timeout, or the node refuses"},
                              {kLosesPaths, "two nodes would have no path left: nothing was changed"}},
            .examples = {"cableway drain enp1s0f0np0 --check", "cableway drain enp1s0f0np0",
                         "cableway drain $(hostname) && systemctl stop cablewayd"},
            .arguments = {
                json_flag(json_),
                positional("NAME", name_, "the node here, one of its cables as topology names it, or the port of one")
                    .that_names(Argument::Names::kNodesAndCables),
                flag("--check", check_, "only show what would be lost; NAME may be any node or cable"),
                flag("--force", force_, "even if two nodes then have no path left").excluding({"--check"}),
                number_option("--timeout", 0, kMaxTimeoutS, timeout_s_,
                              "seconds to wait until no circuit leads there; 0: do not wait")
                    .excluding({"--check"})}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, "", invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const absl::StatusOr<DrainTarget> target = check_ ? find_checked_target(known->topology, known->node, name_)
                                                      : find_drain_target(known->topology, known->node, name_);
    if (!target.ok()) return target.status();
    std::optional<CrossingCircuits> crossing;
    if (target->is_here) {
      absl::StatusOr<CrossingCircuits> found = ask_for_crossing(invocation, *target);
      if (!found.ok()) return found.status();
      crossing = *std::move(found);
    }
    const routing::DrainEffect effect = effect_of(known->topology, *target);
    if (check_) return checked(known->topology, *target, effect, crossing);
    if (!effect.lost.empty() && !target->drains && !force_) {
      Answer refused{"", kLosesPaths, {refusal(known->topology, *target, effect)}};
      if (json_) refused.text = checked(known->topology, *target, effect, crossing).text;
      return refused;
    }
    return drain(invocation, known->topology, *target, effect);
  }

 private:
  Answer checked(const routing::Topology& topology, const DrainTarget& target, const routing::DrainEffect& effect,
                 const std::optional<CrossingCircuits>& crossing) const {
    const int status = effect.lost.empty() ? kDone : kLosesPaths;
    if (json_) {
      Json view = as_json(target, target.drains);
      view.update(drain_effect_json(topology, effect, crossing));
      return {view.dump(2) + "\n", status};
    }
    const std::string head = absl::StrCat(
        cli::describe(target), target.drains ? " drains already. That costs:\n" : ": draining it would cost:\n");
    return {head + drain_effect_text(topology, target, effect, crossing), status};
  }

  static std::string refusal(const routing::Topology& topology, const DrainTarget& target,
                             const routing::DrainEffect& effect) {
    return absl::StrCat("draining ", cli::describe(target), " would leave no path between ",
                        lost_pairs_text(topology, effect),
                        ": nothing was changed. With --force it is drained, and flows between them stay on it");
  }

  absl::StatusOr<Answer> drain(const Invocation& invocation, const routing::Topology& topology,
                               const DrainTarget& target, const routing::DrainEffect& effect) const {
    if (absl::Status requested =
            request_drain(invocation.settings, {target.cable, true}, invocation.surroundings.node_deadline);
        !requested.ok()) {
      return requested;
    }
    Answer answer;
    absl::StatusOr<CrossingCircuits> left = CrossingCircuits{};
    if (timeout_s_ > 0) {
      left = wait_until_empty(invocation, target, std::chrono::seconds(timeout_s_));
    } else if (json_) {
      left = ask_for_crossing(invocation, target);
    }
    if (!left.ok()) {
      return absl::Status(left.status().code(), absl::StrCat(cli::describe(target),
                                                             " was to drain, but its circuits are "
                                                             "not known: ",
                                                             left.status().message()));
    }
    if (timeout_s_ > 0 && !left->none()) {
      answer.exit_status = kFailed;
      answer.remarks.push_back(not_empty_text(topology, target, *left, timeout_s_));
    }
    if (json_) {
      Json view = as_json(target, true);
      view.update(drain_effect_json(topology, effect, *left));
      answer.text = view.dump(2) + "\n";
    } else if (timeout_s_ == 0) {
      answer.text = cli::describe(target) + " drains\n";
    } else if (left->none()) {
      answer.text = drained_text(target);
    }
    return answer;
  }

  bool json_ = false;
  std::string name_;
  bool check_ = false;
  bool force_ = false;
  int timeout_s_ = kTimeoutS;
};

class UndrainVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "undrain",
            .summary =
                "ends a drain of the node here, or of one of its cables: paths lead there again, and running\n"
                "flows use it",
            .notes = "A cable that both of its ends drain has to be undrained at both.",
            .examples = {"cableway undrain enp1s0f0np0", "cableway undrain $(hostname)"},
            .arguments = {
                json_flag(json_),
                positional("NAME", name_, "the node here, one of its cables as topology names it, or the port of one")
                    .that_names(Argument::Names::kNodesAndCables)}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const absl::StatusOr<DrainTarget> target = find(invocation);
    if (!target.ok()) return target.status();
    const absl::Status ended =
        request_drain(invocation.settings, {target->cable, false}, invocation.surroundings.node_deadline);
    if (!ended.ok() && !target->drains && absl::IsFailedPrecondition(ended))
      return answered(*target, " does not drain\n");
    if (!ended.ok()) {
      const std::string where =
          target->is_cable() ? absl::StrCat("; if node ", target->neighbour, " drains it, run this there") : "";
      return absl::Status(ended.code(), absl::StrCat(ended.message(), where));
    }
    return answered(*target, target->drains ? " is no longer drained here\n" : " does not drain\n");
  }

 private:
  // A cable that drains here may be unplugged now: only its node's status still has it.
  absl::StatusOr<DrainTarget> find(const Invocation& invocation) const {
    const absl::StatusOr<NodeView> status =
        ask_node(invocation.settings, "status", invocation.surroundings.node_deadline);
    if (!status.ok()) return status.status();
    using Names = std::vector<std::string>;
    const absl::StatusOr<Names> draining = read_answer<Names>(
        status->text, "status", [](const Json& json) { return json.at("draining_cables").get<Names>(); });
    if (!draining.ok()) return draining.status();
    if (std::find(draining->begin(), draining->end(), name_) != draining->end()) {
      return DrainTarget{.node = status->node.node, .cable = name_, .drains = true};
    }
    const absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, "", invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    return find_drain_target(known->topology, known->node, name_);
  }

  Answer answered(const DrainTarget& target, const char* text) const {
    if (json_) return {as_json(target, false).dump(2) + "\n"};
    return {absl::StrCat(cli::describe(target), text)};
  }

  bool json_ = false;
  std::string name_;
};

}  // namespace

std::unique_ptr<Verb> drain_verb() {
  return std::make_unique<DrainVerb>();
}

std::unique_ptr<Verb> undrain_verb() {
  return std::make_unique<UndrainVerb>();
}

}  // namespace cableway::cli
