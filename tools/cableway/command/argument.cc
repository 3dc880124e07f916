#include "tools/cableway/command/argument.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

using Kind = Argument::Kind;
using Values = std::vector<std::string>;

std::string expected(const std::string& wanted, const std::string& found) {
  return absl::StrCat("expected ", wanted, ", found ", routing::in_quotes(found));
}

std::string empty_value(const Values& values) {
  return std::find(values.begin(), values.end(), "") == values.end() ? "" : "is empty";
}

// "tcp", "tcp or rdma", "debug, info or error".
std::string listed(const std::vector<std::string>& choices) {
  std::string text = absl::StrJoin(choices.begin(), std::prev(choices.end()), ", ");
  return absl::StrCat(text, text.empty() ? "" : " or ", choices.back());
}

Argument::Take take_text(std::string& target) {
  return [&target](const Values& values) {
    target = values.back();
    return empty_value(values);
  };
}

Argument::Take take_texts(std::vector<std::string>& target) {
  return [&target](const Values& values) {
    target = values;
    return empty_value(values);
  };
}

}  // namespace

Argument Argument::excluding(std::vector<std::string> others) && {
  excludes.insert(excludes.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return std::move(*this);
}

Argument Argument::needing(std::vector<std::string> others) && {
  needs.insert(needs.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return std::move(*this);
}

Argument Argument::that_names(Names things) && {
  naming = things;
  return std::move(*this);
}

std::string Argument::name() const {
  return names.substr(0, names.find(','));
}

Argument flag(std::string names, bool& target, std::string meaning) {
  const auto take = [&target](const Values& /*values*/) {
    target = true;
    return std::string();
  };
  return {.kind = Kind::kFlag, .names = std::move(names), .value = "", .meaning = std::move(meaning), .take = take};
}

Argument positional(std::string name, std::string& target, std::string meaning) {
  return {.kind = Kind::kPositional,
          .names = std::move(name),
          .value = "",
          .meaning = std::move(meaning),
          .take = take_text(target)};
}

Argument positionals(std::string name, std::vector<std::string>& target, std::string meaning) {
  return {.kind = Kind::kPositional,
          .names = std::move(name),
          .value = "",
          .meaning = std::move(meaning),
          .take = take_texts(target),
          .repeatable = true};
}

Argument text_option(std::string names, std::string value, std::string& target, std::string meaning) {
  return {.kind = Kind::kOption,
          .names = std::move(names),
          .value = std::move(value),
          .meaning = std::move(meaning),
          .take = take_text(target),
          .default_value = target};
}

Argument texts_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning) {
  return {.kind = Kind::kOption,
          .names = std::move(names),
          .value = std::move(value),
          .meaning = std::move(meaning),
          .take = take_texts(target),
          .repeatable = true};
}

Argument two_texts_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning) {
  Argument argument = texts_option(std::move(names), std::move(value), target, std::move(meaning));
  argument.values = 2;
  argument.repeatable = false;
  return argument;
}

Argument list_option(std::string names, std::string value, std::vector<std::string>& target, std::string meaning) {
  const auto take = [&target](const Values& values) {
    target = absl::StrSplit(values.back(), ',');
    return empty_value(values);
  };
  return {.kind = Kind::kOption,
          .names = std::move(names),
          .value = std::move(value),
          .meaning = std::move(meaning),
          .take = take};
}

Argument choice_option(std::string names, std::vector<std::string> choices, std::string& target, std::string meaning) {
  std::string shown = absl::StrJoin(choices, "|");
  const auto take = [&target, choices](const Values& values) {
    target = values.back();
    const bool known = std::find(choices.begin(), choices.end(), target) != choices.end();
    const std::vector<std::string_view> known_choices(choices.begin(), choices.end());
    return known ? ""
                 : absl::StrCat(expected(listed(choices), target),
                                routing::did_you_mean(absl::AsciiStrToLower(target), known_choices));
  };
  return {.kind = Kind::kOption,
          .names = std::move(names),
          .value = std::move(shown),
          .meaning = std::move(meaning),
          .take = take,
          .default_value = target,
          .choices = std::move(choices)};
}

Argument number_option(std::string names, int lowest, int highest, int& target, std::string meaning) {
  const auto take = [&target, lowest, highest](const Values& values) {
    const bool fits = absl::SimpleAtoi(values.back(), &target) && target >= lowest && target <= highest;
    return fits ? "" : expected(absl::StrCat("a whole number from ", lowest, " to ", highest), values.back());
  };
  return {.kind = Kind::kOption,
          .names = std::move(names),
          .value = absl::StrCat(lowest, "..", highest),
          .meaning = std::move(meaning),
          .take = take,
          .default_value = absl::StrCat(target)};
}

Argument real_option(std::string names, double lowest, double highest, double& target, std::string meaning) {
  const auto take = [&target, lowest, highest](const Values& values) {
    const bool fits = absl::SimpleAtod(values.back(), &target) && target >= lowest && target <= highest;
    return fits ? "" : expected(absl::StrFormat("a number from %.15g to %.15g", lowest, highest), values.back());
  };
  return {.kind = Kind::kOption,
          .names = std::move(names),
          .value = absl::StrFormat("%.15g..%.15g", lowest, highest),
          .meaning = std::move(meaning),
          .take = take,
          .default_value = absl::StrCat(target)};
}

Argument ordinal_option(std::string names, std::optional<std::uint64_t>& target, std::string meaning) {
  const auto take = [&target](const Values& values) {
    std::uint64_t number = 0;
    const bool fits = absl::SimpleAtoi(values.back(), &number);
    target = number;
    return fits ? "" : expected("a number from 0", values.back());
  };
  return {.kind = Kind::kOption, .names = std::move(names), .value = "N", .meaning = std::move(meaning), .take = take};
}

}  // namespace cableway::cli
