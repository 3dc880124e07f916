#include "tools/cableway/verbs/events.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/json_schema.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/text/local_time.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

// The newest event shown, and the node's incarnation that it is from.
struct Seen {
  std::string incarnation;
  std::uint64_t last = 0;
};

bool is_wanted(const Json& event, const EventFilter& filter) {
  const std::optional<EventSeverity> severity = parse_event_severity(text(event, "severity"));
  if (severity.has_value() && *severity < filter.least) return false;
  const std::string code = text(event, "code");
  return filter.codes.empty() || std::find(filter.codes.begin(), filter.codes.end(), code) != filter.codes.end();
}

std::string event_line(const Json& event, const Look& look) {
  const std::string severity = text(event, "severity");
  return absl::StrCat(local_time_text(text(event, "time")), "  ", age_text(number(event, "age_ms")), " ago  ",
                      look.paint.severity(severity, severity), "  ", text(event, "code"), "  ",
                      look.prose(text(event, "text")));
}

// Each line of JSON is a document.
std::string with_schema(const Json& members) {
  Json line = {{routing::kSchemaMember, routing::kJsonSchema}};
  line.update(members);
  return line.dump();
}

// The answer's unseen events, and how many the node has discarded in between.
struct NewEvents {
  std::vector<const Json*> events;
  std::uint64_t lost = 0;
};

NewEvents new_events(const Json& events, std::uint64_t& last) {
  NewEvents found;
  const std::uint64_t before = last;
  for (const Json& event : events) {
    if (number(event, "number") <= before) continue;
    last = std::max(last, number(event, "number"));
    found.events.push_back(&event);
  }
  if (before != 0 && last - before > found.events.size()) found.lost = last - before - found.events.size();
  return found;
}

std::string new_lines(const Json& answer, const EventTail& tail, Seen& seen) {
  std::string lines;
  const auto note = [&](const std::string& text) {
    absl::StrAppend(&lines, tail.json ? with_schema({{"note", text}}) : text, "\n");
  };
  if (const std::string incarnation = std::exchange(seen.incarnation, text(answer, "incarnation"));
      !incarnation.empty() && incarnation != seen.incarnation) {
    note("the node was restarted");
    seen.last = 0;
  }
  const NewEvents found = new_events(answer.at("events"), seen.last);
  if (found.lost > 0) note(absl::StrCat(found.lost, " events were lost"));
  std::unique_ptr<const TopologyLook> named;  // cables come and go between two queries
  for (const Json* event : found.events) {
    if (!is_wanted(*event, tail.filter)) continue;
    if (!tail.json && named == nullptr && tail.look) named = tail.look();
    const Look look = named == nullptr ? Look() : named->look();
    absl::StrAppend(&lines, tail.json ? with_schema(*event) : event_line(*event, look), "\n");
  }
  return lines;
}

std::string not_a_code(const std::string& code) {
  std::vector<std::string_view> names;
  for (const EventKind& kind : event_kinds()) names.push_back(kind.name);
  return absl::StrCat("expected a code of docs/findings.md, found ", routing::in_quotes(code),
                      routing::did_you_mean(absl::AsciiStrToUpper(code), names));
}

Argument codes_option(std::vector<std::string>& codes) {
  Argument option = texts_option("--code", "CODE", codes, "only events of this code, such as CABLE_LOST");
  option.take = [take = std::move(option.take)](const std::vector<std::string>& values) -> std::string {
    for (const std::string& code : values) {
      if (find_event_kind(code) == nullptr) return not_a_code(code);
    }
    return take(values);
  };
  for (const EventKind& kind : event_kinds()) option.choices.emplace_back(kind.name);
  return option;
}

class EventsVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "events",
            .summary = "the kept events of the node (up to 1,000), oldest first",
            .notes = "Without --severity, events of severity info and above; docs/findings.md explains each code.",
            .examples = {"cableway events", "cableway events --severity warning", "cableway events --code CABLE_LOST",
                         "cableway events --follow --json"},
            .arguments = {flag("--json", json_, "as JSON; with --follow, one object per line"),
                          flag("--follow,-f", follow_, "keep printing new events until interrupted"),
                          choice_option("--severity", {"debug", "info", "warning", "error"}, severity_,
                                        "only events of this severity and above"),
                          codes_option(codes_)}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const auto ask = [&]() -> absl::StatusOr<std::string> {
      absl::StatusOr<NodeView> view = ask_node(invocation.settings, "events", invocation.surroundings.node_deadline);
      if (!view.ok()) return view.status();
      return std::move(view->text);
    };
    const EventFilter filter{*parse_event_severity(severity_), codes_};
    const auto look = [&] {
      return look_with_names(invocation.settings, invocation.surroundings.node_deadline, invocation.look());
    };
    if (follow_) return follow_events({json_, filter, ask, invocation.surroundings.pause, look}, invocation.out);
    const absl::StatusOr<std::string> answer = ask();
    if (!answer.ok()) return answer.status();
    return as_answer(json_ ? events_json(*answer, filter) : events_text(*answer, filter, look()->look()));
  }

 private:
  bool json_ = false;
  bool follow_ = false;
  std::string severity_ = "info";
  std::vector<std::string> codes_;
};

}  // namespace

std::unique_ptr<Verb> events_verb() {
  return std::make_unique<EventsVerb>();
}

std::string events_table(const Json& events, const std::string& heading, const Look& look) {
  using Align = TextTable::Align;
  TextTable table(
      {{"local time"}, {"ago", Align::kRight}, {"severity"}, {"code"}, {heading, Align::kLeft, TextTable::Fit::kWrap}});
  for (const Json& event : events) {
    const std::string severity = text(event, "severity");
    table.add_row({local_time_text(text(event, "time")), age_text(number(event, "age_ms")),
                   look.paint.severity(severity, severity), text(event, "code"), look.prose(text(event, "text"))});
  }
  return table.text();
}

absl::StatusOr<std::string> events_text(const std::string& answer, const EventFilter& filter, const Look& look) {
  return render_answer(answer, "events", [&](const Json& view) {
    Json wanted = Json::array();
    for (const Json& event : view.at("events")) {
      if (is_wanted(event, filter)) wanted.push_back(event);
    }
    return events_table(wanted, "what happened to node " + text(view, "node"), look);
  });
}

absl::StatusOr<std::string> events_json(const std::string& answer, const EventFilter& filter) {
  return render_answer(answer, "events", [&](Json view) {
    Json wanted = Json::array();
    for (const Json& event : view.at("events")) {
      if (is_wanted(event, filter)) wanted.push_back(event);
    }
    view["events"] = std::move(wanted);
    return view.dump(2) + "\n";
  });
}

absl::Status follow_events(const EventTail& tail, std::ostream& out) {
  Seen seen;
  while (true) {
    const absl::StatusOr<std::string> answer = tail.ask();
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<std::string> lines =
        render_answer(*answer, "events", [&](const Json& view) { return new_lines(view, tail, seen); });
    if (!lines.ok()) return lines.status();
    out << *lines << std::flush;
    if (!out) return absl::UnavailableError("cannot write the events to standard output");
    tail.pause();
  }
}

}  // namespace cableway::cli
