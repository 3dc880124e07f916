#include <array>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/crypto/key_line.h"
#include "core/linux/files/key_reader.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"
#include "tools/cableway/key/key_copy.h"
#include "tools/cableway/key/key_file.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/text_table.h"
#include "tools/cableway/verbs/key/key_verbs.h"

namespace cableway::cli {
namespace {

constexpr int kLongestCopy = 600;  // seconds
// In the order of CopyEnd.
constexpr std::array kEndWords = {"done", "had it already", "refused", "failed"};
constexpr std::array kEndMembers = {"done", "had_it", "other_key", "failed"};

struct HostOutcome {
  std::string host;
  CopyOutcome outcome;
};

std::string copy_table(const std::vector<HostOutcome>& all) {
  TextTable table({{"host"}, {"key"}, {"reason", TextTable::Align::kLeft, TextTable::Fit::kWrap}});
  for (const HostOutcome& each : all) {
    table.add_row({each.host, kEndWords[static_cast<std::size_t>(each.outcome.end)], each.outcome.reason});
  }
  return table.text();
}

std::string copy_json(const std::string& file, const std::vector<std::string>& fingerprints,
                      const std::vector<HostOutcome>& all) {
  Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"file", file}, {"keys", keys_json(fingerprints)}};
  view["hosts"] = Json::array();
  for (const HostOutcome& each : all) {
    const std::string& reason = each.outcome.reason;
    view["hosts"].push_back({{"host", each.host},
                             {"state", kEndMembers[static_cast<std::size_t>(each.outcome.end)]},
                             {"reason", reason.empty() ? Json() : Json(reason)}});
  }
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

class KeyCopyVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "key copy",
        .summary = "copy the key file to other hosts over ssh",
        .notes =
            "ssh must reach each host without a password, as root or, with --sudo, as a user of sudo without one.\nA "
            "host whose key does not fit is left as it is: one file follows another if the first key of each is in "
            "the other,\nwhich is so in each step of a change of the key. Exit status 1 unless all hosts have the key "
            "then.",
        .examples = {"sudo cableway key copy root@spark-1 root@spark-2", "sudo cableway key copy --sudo me@spark-1"},
        .arguments = {json_flag(json_), key_file_option(file_),
                      text_option("--to", "FILE", there_, "the file on those hosts; default: the same as here"),
                      flag("--replace", replace_, "also where a host has another key"),
                      flag("--sudo", sudo_, "through sudo on those hosts"),
                      text_option("--ssh", "PROGRAM", ssh_, "in place of ssh"),
                      number_option("--timeout", 1, kLongestCopy, seconds_, "seconds for each host"),
                      positionals("HOST", hosts_, "hosts, as ssh takes them")}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const std::string file = chosen_key_file(file_, invocation.settings);
    for (const std::string& host : hosts_) {
      if (absl::Status status = check_ssh_host(host); !status.ok()) return status;
    }
    const std::string there = there_.empty() ? std::filesystem::absolute(file).lexically_normal().string() : there_;
    if (!absl::StartsWith(there, "/") || absl::EndsWith(there, "/")) {
      return absl::InvalidArgumentError(
          absl::StrCat("--to is ", routing::in_quotes(there), "; expected a file with its folders, from / on"));
    }
    absl::StatusOr<host::KeyFile> key = host::read_key_file(file);
    if (!key.ok()) return key.status();
    const std::vector<HostOutcome> all = copy_to_all(key->text, there, invocation.surroundings.run_program);
    wipe(key->text);
    int exit_status = kDone;
    for (const HostOutcome& each : all) {
      if (each.outcome.end == CopyEnd::kOtherKey || each.outcome.end == CopyEnd::kNotCopied) exit_status = kFailed;
    }
    return Answer{json_ ? copy_json(file, key->keys.fingerprints(), all) : copy_table(all), exit_status};
  }

 private:
  std::vector<HostOutcome> copy_to_all(const std::string& text, const std::string& there,
                                       const ProgramRunner& runner) const {
    const KeyCopy copy{
        .path = there, .sudo = sudo_, .replace = replace_, .ssh = ssh_, .deadline = std::chrono::seconds(seconds_)};
    std::vector<HostOutcome> all;
    for (const std::string& host : hosts_) all.push_back({host, copy_key(host, text, copy, runner)});
    return all;
  }

  bool json_ = false;
  bool replace_ = false;
  bool sudo_ = false;
  int seconds_ = 30;
  std::string file_;
  std::string there_;
  std::string ssh_ = "ssh";
  std::vector<std::string> hosts_;
};

}  // namespace

std::unique_ptr<Verb> key_copy_verb() {
  return std::make_unique<KeyCopyVerb>();
}

}  // namespace cableway::cli
