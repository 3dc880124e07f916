#include "tools/cableway/key/key_copy.h"

#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/crypto/key_line.h"
#include "routing/text/node_name.h"
#include "routing/text/shell_text.h"
#include "routing/text/ssh_host.h"

namespace cableway::cli {
namespace {

constexpr char kMark[] = "cableway-key: ";

// Keys are compared by builtins of the shell, so that they are in no process's arguments.
constexpr char kStart[] = R"sh( say() { echo "cableway-key: $*"; exit 0; }; )sh"
                          R"sh(keys() { tr -d " \t\r" < "$1" | tr A-F a-f | grep .; }; )sh"
                          R"sh(nl=$(printf "\n_"); nl=${nl%_}; t=; trap 'rm -f "$t"' EXIT; )sh"
                          R"sh([ ! -h "$f" ] || say failed "$f is a link"; )sh"
                          R"sh([ ! -e "$f" ] || [ -f "$f" ] || say failed "$f is no regular file"; )sh"
                          R"sh(p=$d; while [ ! -e "$p" ]; do p=$(dirname "$p"); done; )sh"
                          R"sh(open=$(find -H "$p" -prune \( \( -perm -020 -o -perm -002 \) ! -perm -1000 )sh"
                          R"sh(-o ! -user 0 ! -user "$(id -u)" \)) && [ -z "$open" ] || )sh"
                          R"sh(say failed "$p can be written by other users than root"; )sh"
                          R"sh(if [ ! -d "$d" ]; then mkdir -p "$d" && chmod 755 "$d" || exit 1; fi; )sh"
                          R"sh(t=$(mktemp "$f.XXXXXX") || exit 1; cat > "$t" || exit 1; )sh"
                          R"sh([ "$(wc -c < "$t")" -eq $n ] || say failed "the key arrived incomplete"; )sh";

constexpr char kCompare[] =
    R"sh(new=$(keys "$t"); if [ -f "$f" ]; then old=$(keys "$f"); mode=$(stat -c %a:%u "$f"); )sh"
    R"sh(if [ "$old" = "$new" ]; then case $mode in 600:0|600:$(id -u)) say same;; esac; fi; )sh"
    R"sh(new1=${new%%$nl*}; old1=${old%%$nl*}; follows=no; )sh"
    R"sh(case "$nl$old$nl" in *"$nl$new1$nl"*) case "$nl$new$nl" in *"$nl$old1$nl"*) follows=yes;; esac;; esac; )sh"
    R"sh([ $follows = yes ] || [ $replace = yes ] || say other; fi; )sh";

constexpr char kPlace[] =
    R"sh(chmod 600 "$t" && { sync "$t" 2> /dev/null || :; } && mv -f "$t" "$f" || exit 1; say done)sh";

CopyOutcome failed(std::string reason) {
  return {CopyEnd::kNotCopied, std::move(reason)};
}

// What the script said last; empty if it did not reach its end.
std::string answer_of(const std::string& output) {
  std::string answer;
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    if (absl::ConsumePrefix(&line, kMark)) answer = std::string(absl::StripTrailingAsciiWhitespace(line));
  }
  return answer;
}

}  // namespace

absl::Status check_ssh_host(const std::string& host) {
  if (routing::is_ssh_host(host)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("host ", routing::in_quotes(host),
                                                 " is no name or address for ssh; expected one such as gpu1, ",
                                                 "user@gpu1 or 10.0.0.7"));
}

std::string key_copy_script(const KeyCopy& copy, std::size_t bytes) {
  const std::string folder = std::filesystem::path(copy.path).parent_path().string();
  return absl::StrCat("umask 077; f=", routing::shell_quoted(copy.path), "; d=", routing::shell_quoted(folder),
                      "; n=", bytes, "; replace=", copy.replace ? "yes" : "no", ";", kStart, kCompare, kPlace);
}

CopyOutcome copy_key(const std::string& host, const std::string& key_text, const KeyCopy& copy,
                     const ProgramRunner& runner) {
  const std::string script = routing::shell_quoted(key_copy_script(copy, key_text.size()));
  ProgramCall call{.words = {copy.ssh, "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host,
                             absl::StrCat(copy.sudo ? "sudo -n " : "", "sh -c ", script)},
                   .input = key_text,
                   .deadline = copy.deadline};
  const ProgramEnd end = runner(call);
  wipe(call.input);
  const std::string answer = answer_of(end.out);
  if (answer == "done") return {CopyEnd::kCopied, ""};
  if (answer == "same") return {CopyEnd::kHadIt, ""};
  if (answer == "other") return {CopyEnd::kOtherKey, "it has another key; --replace replaces it"};
  absl::string_view reason = answer;
  if (absl::ConsumePrefix(&reason, "failed ")) return failed(routing::escaped({reason.data(), reason.size()}));
  if (end.timed_out) return failed(absl::StrCat("no answer within ", copy.deadline.count() / 1000, " s"));
  const std::string words = last_words(end);
  return failed(absl::StrCat("ssh ended with exit status ", end.exit_status, words.empty() ? "" : ": ", words));
}

}  // namespace cableway::cli
