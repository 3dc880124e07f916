#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "core/linux/files/key_reader.h"
#include "routing/text/json_schema.h"
#include "routing/text/node_name.h"
#include "tools/cableway/key/key_file.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/verbs/key/key_verbs.h"

namespace cableway::cli {
namespace {

std::string key_answer(const std::string& file, const std::vector<std::string>& fingerprints, bool json) {
  if (!json) return absl::StrCat(routing::escaped(file), ": ", fingerprints_text(fingerprints), "\n");
  const Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"file", file}, {"keys", keys_json(fingerprints)}};
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

class KeyNewVerb final : public Verb {
 public:
  Command describe() override {
    return {
        .name = "key new",
        .summary = "make a key for a cluster, on one of its hosts",
        .notes =
            "Prints the fingerprint, never the key. A node that was started without a key needs a restart to "
            "use one.\nThe three steps of a change of the key: docs/security.md.",
        .examples = {"sudo cableway key new", "sudo cableway key new --second", "cableway key new --file ./key"},
        .arguments = {
            json_flag(json_), key_file_option(file_),
            flag("--second", second_, "add it as the second line: the first step of changing a key"),
            flag("--replace", replace_, "in place of the keys in the file, which are lost").excluding({"--second"})}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const std::string file = chosen_key_file(file_, invocation.settings);
    const NewKey kind = second_ ? NewKey::kSecond : replace_ ? NewKey::kReplace : NewKey::kFirst;
    const absl::StatusOr<std::vector<std::string>> fingerprints = write_new_key(file, kind);
    if (!fingerprints.ok()) return fingerprints.status();
    Answer answer{key_answer(file, *fingerprints, json_)};
    if (::geteuid() != 0) {
      answer.remarks.push_back(absl::StrCat("the key belongs to user ", ::geteuid(),
                                            ": a node that root runs takes it only after sudo chown root ",
                                            routing::escaped(file)));
    }
    return answer;
  }

 private:
  bool json_ = false;
  bool second_ = false;
  bool replace_ = false;
  std::string file_;
};

class KeyShowVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "key show",
            .summary = "the fingerprints of the keys in the key file",
            .examples = {"sudo cableway key show", "sudo cableway key show --json | jq -r .keys[0].fingerprint"},
            .arguments = {json_flag(json_), key_file_option(file_)}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const std::string file = chosen_key_file(file_, invocation.settings);
    const absl::StatusOr<KeyRing> keys = host::read_keys(file);
    if (!keys.ok()) return keys.status();
    return Answer{key_answer(file, keys->fingerprints(), json_)};
  }

 private:
  bool json_ = false;
  std::string file_;
};

}  // namespace

std::unique_ptr<Verb> key_new_verb() {
  return std::make_unique<KeyNewVerb>();
}

std::unique_ptr<Verb> key_show_verb() {
  return std::make_unique<KeyShowVerb>();
}

Argument key_file_option(std::string& file) {
  return text_option("--file", "FILE", file, "the key file; default: the setting key_file, else /etc/cableway/key")
      .that_names(Argument::Names::kFiles);
}

std::string chosen_key_file(const std::string& file, const Settings& settings) {
  if (!file.empty()) return file;
  return settings.key_file.empty() ? kDefaultKeyFile : settings.key_file;
}

}  // namespace cableway::cli
