#include "tools/cableway/verbs/up/up.h"

#include <unistd.h>

#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/crypto/key_line.h"
#include "core/linux/files/key_reader.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"
#include "routing/topology_io/topology_file.h"
#include "tools/cableway/address_plan/plan_record.h"
#include "tools/cableway/expectation/fitting_tuner.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/system/host_root.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/named_file.h"
#include "tools/cableway/text/text_table.h"
#include "tools/cableway/up/apply.h"
#include "tools/cableway/up/journal.h"
#include "tools/cableway/up/nccl_file.h"
#include "tools/cableway/up/up_changes.h"
#include "tools/cableway/verbs/plan/plan_request.h"

namespace cableway::cli {
namespace {

constexpr char kNcclOffer[] =
    "With a line in /etc/nccl.conf NCCL (2.28.7 and later) takes its settings from Cableway, and jobs need no "
    "environment\nvariables. All hosts of a job need it. Add it? ";
constexpr std::size_t kMostPlanBytes = std::size_t{16} << 20;  // below kMostHostFileBytes

// The user that called sudo; empty: none, or root.
std::string sudo_user(const char* const* environment) {
  constexpr std::string_view kName = "SUDO_USER=";
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(kName)) continue;
    const std::string_view user = entry.substr(kName.size());
    return user != "root" && routing::is_valid_name(user, routing::kMaxNodeNameBytes) ? std::string(user) : "";
  }
  return "";
}

std::vector<ChangeRow> rows_of(const std::vector<Change>& changes) {
  std::vector<ChangeRow> rows;
  for (const Change& change : changes) rows.insert(rows.end(), change.rows.begin(), change.rows.end());
  return rows;
}

std::string changes_table(const std::vector<ChangeRow>& rows) {
  using Align = TextTable::Align;
  using Fit = TextTable::Fit;
  TextTable table(
      {{"what", Align::kLeft, Fit::kWrap}, {"is", Align::kLeft, Fit::kWrap}, {"would be", Align::kLeft, Fit::kWrap}});
  for (const ChangeRow& row : rows) {
    table.add_row({routing::escaped(row.what), routing::escaped(row.is), routing::escaped(row.would_be)});
  }
  return table.text();
}

std::string changes_json(const UpChanges& all, bool applied) {
  Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"applied", applied}};
  view["changes"] = Json::array();
  for (const ChangeRow& row : rows_of(all.changes)) {
    view["changes"].push_back({{"what", row.what}, {"is", row.is}, {"would_be", row.would_be}});
  }
  view["remarks"] = all.remarks;
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string undo_text(const UndoReport& report) {
  std::string text;
  for (const std::string& each : report.undone) absl::StrAppend(&text, "taken back: ", routing::escaped(each), "\n");
  for (const LeftChange& each : report.left) {
    absl::StrAppend(&text, "left as it is: ", routing::escaped(each.what), ": ", routing::escaped(each.reason), "\n");
  }
  return text.empty() ? "nothing to take back\n" : text;
}

std::string undo_json(const UndoReport& report) {
  Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"undone", report.undone}};
  view["left"] = Json::array();
  for (const LeftChange& each : report.left) view["left"].push_back({{"what", each.what}, {"reason", each.reason}});
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

class UpVerb final : public Verb {
 public:
  Command describe() override {
    std::vector<Argument> arguments = request_.arguments();
    const std::vector<Argument> others = {
        json_flag(json_),
        text_option("--plan", "DIR", folder_, "what cableway plan addresses --output DIR wrote")
            .that_names(Argument::Names::kFiles),
        text_option("--host", "NAME", host_, "this host's name in the plan; default: its own"),
        text_option("--key", "FILE", key_, "the key file to install, where the host has none")
            .that_names(Argument::Names::kFiles),
        flag("--force", force_, "replace settings that have another value"),
        flag("--nccl", nccl_,
             "also a line in /etc/nccl.conf, with which jobs need no environment variables (NCCL 2.28.7 and later)"),
        flag("--yes", yes_, "do not ask"),
        flag("--dry-run", dry_run_, "show the changes only; needs no root").excluding({"--yes"}),
        flag("--undo", undo_, "take back what cableway up has changed")
            .excluding({"--dry-run", "--plan", "--topology", "--nccl"})};
    arguments.insert(arguments.begin(), others.begin(), others.end());
    return {
        .name = "up",
        .summary = "set up this host: addresses, MTU, ARP, locked memory, settings, key, group, service",
        .notes =
            "Shows what it would change, and asks. A plan is a folder, or given by the options of "
            "cableway plan addresses;\nwithout one, addresses stay as they are. What only an "
            "earlier plan has is taken back.\nOn a terminal it offers the line of --nccl, too, if it changes something "
            "else.\nEach change is in " +
            std::string(kJournalPath) + ", with which --undo restores what was there before.",
        .examples = {"sudo cableway up --plan plan", "sudo cableway up --plan plan --nccl --yes",
                     "cableway up --plan plan --dry-run",
                     "sudo cableway up --topology ring:4 --hosts spark-0,spark-1,spark-2,spark-3 --yes",
                     "sudo cableway up --undo"},
        .arguments = std::move(arguments)};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const Surroundings& around = invocation.surroundings;
    const HostRoot root(around.host_root);
    if (!dry_run_ && around.host_root.empty() && ::geteuid() != 0) {
      return absl::PermissionDeniedError("only root may change the host; expected sudo cableway up, or --dry-run");
    }
    absl::StatusOr<host::UniqueFd> lock{host::UniqueFd()};
    if (!dry_run_) lock = root.lock(kUpLockPath);
    if (!lock.ok()) return lock.status();
    if (undo_) return undo(invocation, root);
    absl::StatusOr<UpRequest> request = read_request(invocation);
    if (!request.ok()) return request.status();
    absl::StatusOr<Answer> answer = examine_and_change(*request, invocation, root);
    if (request->key_text) wipe(*request->key_text);
    return answer;
  }

 private:
  absl::Status check_options() const {
    if (!folder_.empty() && request_.names_topology()) {
      return absl::InvalidArgumentError("--plan and --topology are given; expected one of them");
    }
    if (!request_.names_topology() && request_.has_details()) {
      return absl::InvalidArgumentError(
          "--hosts, --interfaces, --subnet, --prefix and --mtu describe a plan together with --topology, which is not "
          "given");
    }
    if (folder_.empty() && !request_.names_topology() && !host_.empty()) {
      return absl::InvalidArgumentError("--host selects a host of a plan; expected --plan or --topology with it");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<UpRequest> read_request(const Invocation& invocation) const {
    UpRequest request{.plan = std::nullopt,
                      .user = sudo_user(invocation.surroundings.environment),
                      .key_text = std::nullopt,
                      .force = force_,
                      .nccl = nccl_};
    if (absl::Status status = check_options(); !status.ok()) return status;
    if (!folder_.empty() || request_.names_topology()) {
      absl::StatusOr<HostPlan> plan = read_plan(invocation);
      if (!plan.ok()) return plan.status();
      request.plan = *std::move(plan);
    }
    if (!key_.empty()) {
      absl::StatusOr<host::KeyFile> key = host::read_key_file(key_);
      if (!key.ok()) return key.status();
      request.key_text = std::move(key->text);
    }
    return request;
  }

  absl::StatusOr<HostPlan> read_plan(const Invocation& invocation) const {
    const std::string host = host_.empty() ? invocation.surroundings.host_name : host_;
    if (folder_.empty()) {
      const absl::StatusOr<AddressPlan> plan = request_.make(invocation);
      if (!plan.ok()) return plan.status();
      return parse_host_plan(address_plan_json(*plan, "", request_.mtu(), {}), "the plan", host,
                             routing::to_topology_file(plan->expected), fitting_tuner(plan->expected));
    }
    const std::string record_file = absl::StrCat(folder_, "/", kPlanRecordFile);
    const absl::StatusOr<std::string> record = read_named_file(record_file, kMostPlanBytes + 1);
    if (!record.ok()) return record.status();
    const std::string expected_file = absl::StrCat(folder_, "/", kExpectedFile);
    const absl::StatusOr<routing::Topology> checked = read_or_generate_topology(expected_file);
    if (!checked.ok()) return checked.status();
    absl::StatusOr<std::string> expected = read_named_file(expected_file, kMostPlanBytes);
    if (!expected.ok()) return expected.status();
    return parse_host_plan(*record, record_file, host, *std::move(expected), fitting_tuner(*checked));
  }

  // What is to be changed, without the key's text in memory once it ends.
  struct Examined {
    std::string key_path;
    UpChanges all;

    Examined() = default;
    ~Examined() { wipe_key(key_path, all); }
    Examined(Examined&&) = default;
    Examined& operator=(Examined&&) = delete;
  };

  static absl::StatusOr<Examined> examine(const UpRequest& request, const Invocation& invocation,
                                          const HostRoot& root) {
    absl::StatusOr<UpFacts> facts = read_up_facts(request, root, invocation.surroundings.run_program);
    if (!facts.ok()) return facts.status();
    absl::StatusOr<UpChanges> all = up_changes(request, *facts);
    wipe_key(*facts);
    if (!all.ok()) return all.status();
    Examined examined;
    examined.key_path = facts->key_path;
    examined.all = *std::move(all);
    return examined;
  }

  // Asks for what --nccl does, where there is somebody to ask, something else to change, and no such line yet.
  absl::Status offer_nccl(UpRequest& request, const Invocation& invocation, const HostRoot& root) const {
    if (nccl_ || yes_ || dry_run_ || !invocation.surroundings.in_is_terminal) return absl::OkStatus();
    const absl::StatusOr<std::optional<HostFile>> present = root.read(kNcclFile);
    if (!present.ok() || (*present && env_plugin_in((*present)->text))) return absl::OkStatus();
    const absl::StatusOr<Examined> examined = examine(request, invocation, root);
    if (!examined.ok() || examined->all.changes.empty()) return examined.status();
    const absl::StatusOr<bool> agreed = ask(kNcclOffer, "", invocation);
    if (agreed.ok()) request.nccl = *agreed;
    return agreed.status();
  }

  absl::StatusOr<Answer> examine_and_change(UpRequest& request, const Invocation& invocation,
                                            const HostRoot& root) const {
    if (absl::Status status = offer_nccl(request, invocation, root); !status.ok()) return status;
    const absl::StatusOr<Examined> examined = examine(request, invocation, root);
    if (!examined.ok()) return examined.status();
    const auto is_as_it_was = [&]() -> absl::Status {
      const absl::StatusOr<Examined> again = examine(request, invocation, root);
      if (!again.ok()) return again.status();
      if (again->all.changes == examined->all.changes) return absl::OkStatus();
      return absl::FailedPreconditionError(
          "the host has changed while this was shown, so nothing was done; run cableway up again");
    };
    return change(examined->all, invocation, root, is_as_it_was);
  }

  absl::StatusOr<Answer> change(const UpChanges& all, const Invocation& invocation, const HostRoot& root,
                                const std::function<absl::Status()>& is_as_it_was) const {
    const bool nothing = all.changes.empty();
    const std::string shown = nothing ? "nothing to change\n" : changes_table(rows_of(all.changes));
    if (nothing || dry_run_) return Answer{json_ ? changes_json(all, false) : shown, kDone, all.remarks};
    if (!yes_) {
      const absl::StatusOr<bool> agreed = ask(absl::StrCat(shown, "\n"), "apply? ", invocation);
      if (!agreed.ok()) return agreed.status();
      if (!*agreed) return Answer{json_ ? changes_json(all, false) : "nothing was changed\n", kFailed, all.remarks};
      if (absl::Status status = is_as_it_was(); !status.ok()) return status;
    }
    if (absl::Status status = apply_changes(all.changes, root, invocation.surroundings.run_program); !status.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat(std::string(status.message()),
                       "; the changes before that are made: cableway up goes on with the rest, cableway up --undo "
                       "takes them back"));
    }
    if (json_) return Answer{changes_json(all, true), kDone, all.remarks};
    return Answer{absl::StrCat(yes_ ? shown : "", "done; cableway doctor examines the host, cableway up --undo takes ",
                               "all of this back\n"),
                  kDone, all.remarks};
  }

  static absl::StatusOr<bool> ask(const std::string& shown, const std::string& question, const Invocation& invocation) {
    const Surroundings& around = invocation.surroundings;
    if (!around.in_is_terminal || around.in == nullptr) {
      return absl::FailedPreconditionError("there is no terminal to ask on; expected --yes, or --dry-run");
    }
    // Standard output has the answer alone, for --json.
    invocation.err << shown << question << "[y/N] " << std::flush;
    std::string line;
    std::getline(*around.in, line);
    return line == "y" || line == "Y" || line == "yes";
  }

  absl::StatusOr<Answer> undo(const Invocation& invocation, const HostRoot& root) const {
    if (!yes_) {
      const absl::StatusOr<Journal> journal = read_journal(root);
      if (!journal.ok()) return journal.status();
      const std::size_t steps = journal->records.size();
      const absl::StatusOr<bool> agreed =
          steps == 0 ? true
                     : ask(absl::StrCat("take back ", steps, " steps of cableway up\n\n"), "apply? ", invocation);
      if (!agreed.ok()) return agreed.status();
      if (!*agreed) return Answer{json_ ? undo_json({}) : "nothing was changed\n", kFailed};
    }
    const absl::StatusOr<UndoReport> report = undo_changes(root, invocation.surroundings.run_program);
    if (!report.ok()) return report.status();
    return Answer{json_ ? undo_json(*report) : undo_text(*report), report->left.empty() ? kDone : kFailed};
  }

  bool json_ = false;
  bool force_ = false;
  bool nccl_ = false;
  bool yes_ = false;
  bool dry_run_ = false;
  bool undo_ = false;
  std::string folder_;
  std::string host_;
  std::string key_;
  PlanRequest request_;
};

}  // namespace

std::unique_ptr<Verb> up_verb() {
  return std::make_unique<UpVerb>();
}

}  // namespace cableway::cli
