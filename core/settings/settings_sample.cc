#include "core/settings/settings_sample.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/settings/setting_line.h"
#include "core/settings/settings_table.h"

namespace cableway {
namespace {

constexpr std::size_t kColumns = 100;

struct SampleValue {
  std::string_view key;
  std::string_view value;
};

// Of settings whose default is nothing, or depends on the host.
constexpr SampleValue kExamples[] = {
    {"node", "spark-0"},
    {"ports", "enp1s0f0np0,enp1s0f1np1"},
    {"session_group", "cableway"},
    {"log_file", "/var/log/cableway/cablewayd.log"},
    {"key_file", "/etc/cableway/key"},
    {"daemon", "/usr/bin/cablewayd"},
    {"expect", "/etc/cableway/expected.toml"},
    {"http", "127.0.0.1:7473"},
    {"http_token_file", "/etc/cableway/http_token"},
};

std::string example_of(std::string_view key) {
  for (const SampleValue& each : kExamples) {
    if (each.key == key) return std::string(each.value);
  }
  return "";
}

// "# words", in lines of at most kColumns.
void append_comment(std::string& file, const std::string& text) {
  std::string line = "#";
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() + 1 + word.size() > kColumns) {
      absl::StrAppend(&file, line, "\n");
      line = "#";
    }
    absl::StrAppend(&line, " ", word);
  }
  absl::StrAppend(&file, line, "\n");
}

void append_setting(std::string& file, const Setting& setting) {
  const std::string shown = setting.show(Settings{});
  const std::string example = shown.empty() ? example_of(setting.key) : shown;
  const std::string otherwise =
      setting.default_note.empty() ? "" : absl::StrCat(". Default: ", std::string(setting.default_note));
  absl::StrAppend(&file, "\n");
  append_comment(file, absl::StrCat(std::string(setting.meaning), otherwise));
  append_comment(file, absl::StrCat("Takes ", expected_of(setting), "."));
  absl::StrAppend(&file, "#", setting_line(setting, example), "\n");
}

}  // namespace

std::string settings_sample() {
  std::string file =
      "# Settings of cablewayd, the plugin and the command line of this host, in TOML.\n"
      "# Every line is a comment: remove the # before a setting that you change.\n"
      "# `cablewayd --check-config` shows what is in force, and where it comes from.\n"
      "# `systemctl reload cablewayd` applies changes, and reports which ones need a restart.\n";
  for (const Setting& setting : all_settings()) {
    if (setting.key != "config") append_setting(file, setting);
  }
  return file;
}

}  // namespace cableway
