#include "tools/cableway/doctor/facts/nccl_settings.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/linux/os/bounded_file.h"
#include "core/printable.h"

namespace cableway::cli {
namespace {

constexpr char kPrefix[] = "NCCL_";
constexpr std::size_t kMaxFileBytes = 64U << 10;
constexpr std::size_t kMaxFieldBytes = 1023;  // of a name or value in a file, as NCCL cuts them
constexpr std::size_t kMaxShownBytes = 200;
constexpr std::size_t kMaxFaults = 20;

std::string shown(std::string_view text) {
  return shortened(printable(text));
}

bool is_variable(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

class Reading {
 public:
  explicit Reading(const NcclPlaces& places) : places_(places) {}

  NcclSettings run() && {
    read_environment();
    const std::string named = environment_value("NCCL_CONF_FILE");
    if (!named.empty()) {
      read_file(named, /*must_exist=*/true);
    } else if (!places_.home.empty()) {
      read_file(absl::StrCat(places_.home, "/.nccl.conf"), false);
    }
    read_file(places_.system_file, false);
    for (auto& [name, setting] : settings_) result_.settings.push_back(std::move(setting));
    return std::move(result_);
  }

 private:
  std::string environment_value(std::string_view name) const {
    const auto found = raw_environment_.find(std::string(name));
    return found == raw_environment_.end() ? "" : found->second;
  }

  void read_environment() {
    for (const char* const* entry = places_.environment; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const std::size_t equals = text.find('=');
      if (!absl::StartsWith(*entry, kPrefix) || equals == std::string_view::npos) continue;
      const std::string name(text.substr(0, equals));
      if (!raw_environment_.emplace(name, text.substr(equals + 1)).second) continue;
      set(name, text.substr(equals + 1), "environment");
    }
  }

  void set(std::string_view name, std::string_view value, const std::string& source) {
    const std::string key = printable(name);
    const auto [known, is_new] = settings_.emplace(key, NcclSetting{key, printable(value), source, {}});
    if (!is_new) known->second.overridden.push_back(absl::StrCat(shown(value), " (", source, ")"));
  }

  void fault(const std::string& source, std::string what, bool about_nccl) {
    if (result_.faults.size() < kMaxFaults) result_.faults.push_back({source, std::move(what), about_nccl});
  }

  void read_file(const std::string& path, bool must_exist) {
    const std::string name = printable(path);
    result_.files.push_back(name);
    const absl::StatusOr<host::UniqueFd> file = host::open_file(path);
    if (absl::IsNotFound(file.status()) && !must_exist) return;
    const absl::StatusOr<std::string> text =
        file.ok() ? host::read_at_most(*file, kMaxFileBytes + 1) : absl::StatusOr<std::string>(file.status());
    if (!text.ok()) return fault(name, absl::StrCat("NCCL skips this file: it ", text.status().message()), true);
    if (text->size() > kMaxFileBytes) {
      fault(name, absl::StrCat("only its first ", kMaxFileBytes >> 10, " KiB were examined"), true);
    }
    std::size_t number = 0;
    const std::vector<std::string> lines = absl::StrSplit(text->substr(0, kMaxFileBytes), '\n');
    for (const std::string& line : lines) read_line(line, absl::StrCat(name, ":", ++number));
  }

  void read_line(const std::string& line, const std::string& source) {
    const std::string text(absl::StripTrailingAsciiWhitespace(line));
    if (text.empty() || text.front() == '#') return;
    const bool about_nccl = absl::StrContains(line, kPrefix);
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      const bool is_comment = absl::StripLeadingAsciiWhitespace(text).front() == '#';
      if (!is_comment) fault(source, absl::StrCat("NCCL skips \"", shown(text), "\": it has no ="), about_nccl);
      return;
    }
    const std::string name = text.substr(0, equals);
    if (!is_variable(name)) {
      return fault(source,
                   absl::StrCat("NCCL sets no such variable by \"", shown(text), "\": it takes \"", shown(name),
                                "\" as the name; expected NAME=VALUE without spaces and without export"),
                   about_nccl);
    }
    if (!absl::StartsWith(name, kPrefix)) return;
    // Spaces at the end belong to the value; the carriage return does not, from 2.30 on.
    std::string value = line.substr(equals + 1);
    if (value.ends_with('\r')) value.pop_back();
    const bool is_quoted = !value.empty() && (value.front() == '"' || value.front() == '\'');
    if (is_quoted) fault(source, absl::StrCat("the quotes are part of the value of ", shown(name)), true);
    if (value.size() != absl::StripAsciiWhitespace(value).size()) {
      fault(source, absl::StrCat("the spaces around the value of ", shown(name), " are part of it"), true);
    }
    set(name.substr(0, kMaxFieldBytes), value.substr(0, kMaxFieldBytes), source);
  }

  const NcclPlaces& places_;
  std::map<std::string, std::string> raw_environment_;
  std::map<std::string, NcclSetting> settings_;
  NcclSettings result_;
};

}  // namespace

NcclPlaces NcclPlaces::of_this_process() {
  NcclPlaces places{environ, ""};
  if (const char* const home = std::getenv("HOME"); home != nullptr) {
    places.home = home;
    return places;
  }
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> texts;
  if (::getpwuid_r(::getuid(), &entry, texts.data(), texts.size(), &found) == 0 && found != nullptr) {
    places.home = found->pw_dir;
  }
  return places;
}

const NcclSetting* NcclSettings::find(std::string_view name) const {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const auto& each) { return each.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

std::string shortened(const std::string& text) {
  return text.size() <= kMaxShownBytes ? text : absl::StrCat(text.substr(0, kMaxShownBytes), "..");
}

NcclSettings read_nccl_settings(const NcclPlaces& places) {
  return Reading(places).run();
}

}  // namespace cableway::cli
