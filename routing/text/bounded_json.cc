#include "routing/text/bounded_json.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "routing/text/absl_view.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

using Json = nlohmann::json;

// Extracts REASON from "[json.exception.parse_error.101] parse error at line 1, column 2: REASON" or
// "[json.exception.out_of_range.406] REASON"; the caller adds the position. REASON may quote an arbitrary part of the
// text.
std::string reason_of(const Json::exception& error) {
  constexpr std::size_t kShown = 160;
  std::string_view reason = error.what();
  for (const std::string_view before : {"] ", ": "}) {
    const std::size_t at = reason.find(before);
    if (at != std::string_view::npos) reason.remove_prefix(at + before.size());
    if (!reason.starts_with("parse error")) break;
  }
  const std::string escaped = absl::CHexEscape(absl_view(reason.substr(0, kShown)));
  return absl::StrReplaceAll(escaped, {{"\\'", "'"}, {"\\\"", "\""}});
}

// Scans a text without building a document, which would keep only the last of duplicate members; stops at the first
// violation.
class BoundsCheck : public Json::json_sax_t {
 public:
  explicit BoundsCheck(const JsonBounds& bounds) : bounds_(bounds) {}

  bool null() override { return count(); }
  bool boolean(bool /*value*/) override { return count(); }
  bool number_integer(number_integer_t /*value*/) override { return count(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return count(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return count(); }
  bool string(string_t& /*value*/) override { return count(); }
  bool binary(binary_t& /*value*/) override { return count(); }
  bool key(string_t& name) override;
  bool start_object(std::size_t /*members*/) override { return count() && enter(); }
  bool start_array(std::size_t /*elements*/) override { return count() && enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& error) override {
    position_ = position;
    wrong_ = reason_of(error);
    return false;
  }

  // The 1-based offset of the byte at which the text stops being JSON; 0 if it is valid JSON that exceeds the bounds.
  std::size_t position() const { return position_; }
  const std::string& wrong() const { return wrong_; }

 private:
  // An object or array that is not complete yet.
  struct Open {
    std::set<std::string> names;  // of an object's members so far
    std::string name;             // of an object's last member
    std::size_t elements = 0;     // of an array, so far
  };

  bool count() {
    if (!open_.empty()) ++open_.back().elements;
    if (++values_ > bounds_.values) {
      wrong_ = absl::StrCat("there are too many values; expected at most ", bounds_.values);
    }
    return wrong_.empty();
  }
  bool enter() {
    open_.emplace_back();
    if (open_.size() > bounds_.depth) {
      wrong_ = absl::StrCat("values are nested too deeply; expected at most ", bounds_.depth, " levels");
    }
    return wrong_.empty();
  }
  bool leave() {
    open_.pop_back();
    return true;
  }
  std::string place() const;

  const JsonBounds& bounds_;
  std::size_t values_ = 0;
  std::vector<Open> open_;  // the innermost last
  std::size_t position_ = 0;
  std::string wrong_;
};

// The innermost open object as a JSON pointer (RFC 6901), "" for the document. Names with a '/' are not escaped.
std::string BoundsCheck::place() const {
  constexpr std::size_t kShownName = 80;
  std::string place;
  for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
    const Open& each = open_[i];
    const std::string name = absl::CHexEscape(absl_view(each.name).substr(0, kShownName));
    absl::StrAppend(&place, "/", each.names.empty() ? absl::StrCat(each.elements - 1) : name);
  }
  return place;
}

bool BoundsCheck::key(string_t& name) {
  if (!count()) return false;
  Open& object = open_.back();
  if (object.names.insert(name).second) {
    object.name = name;
    return true;
  }
  const std::string where = place();
  wrong_ = absl::StrCat(where.empty() ? "" : absl::StrCat("at ", where, ": "), "member ", in_quotes(name),
                        " occurs twice; expected each member once");
  return false;
}

absl::Status syntax_error(std::string_view text, std::string_view file_name, const BoundsCheck& check,
                          std::string_view expected) {
  const std::string_view before = text.substr(0, check.position() - 1);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return absl::InvalidArgumentError(absl::StrCat(escaped(file_name), ":", line, ": column ", column, ": ",
                                                 check.wrong(), "; expected ", absl_view(expected)));
}

}  // namespace

absl::StatusOr<Json> parse_bounded_json(std::string_view text, std::string_view file_name, const JsonBounds& bounds,
                                        std::string_view expected) {
  if (text.size() > bounds.bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(escaped(file_name), ": the file has ", text.size(), " bytes; expected at most ", bounds.bytes));
  }
  // To the parser a NUL is the end of the text, so that what follows would be ignored.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    return absl::InvalidArgumentError(
        absl::StrCat(escaped(file_name), ":", line, ": a NUL byte; expected ", absl_view(expected)));
  }
  BoundsCheck check(bounds);
  if (Json::sax_parse(text, &check)) return Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (check.position() > 0) return syntax_error(text, file_name, check, expected);
  return absl::InvalidArgumentError(absl::StrCat(escaped(file_name), ": ", check.wrong()));
}

}  // namespace cableway::routing
