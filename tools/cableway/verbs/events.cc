#include "tools/cableway/verbs/events.h"

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/cableway/node/node_answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/text/quantity_text.h"
#include "tools/cableway/text/text_table.h"

namespace cableway::cli {
namespace {

// The newest event that was shown, and the life of the node that it was from.
struct Shown {
  std::string life;
  std::uint64_t last = 0;
};

// The lines of an answer's events that are newer than what was shown, which they then are.
std::string new_lines(const Json& answer, bool json, Shown& shown) {
  std::uint64_t& last = shown.last;
  const Json& events = answer.at("events");
  std::string lines;
  const auto note = [&](const std::string& text) {
    absl::StrAppend(&lines, json ? Json{{"note", text}}.dump() : text, "\n");
  };
  if (const std::string life = std::exchange(shown.life, text(answer, "life")); !life.empty() && life != shown.life) {
    note("the node was started again");
    last = 0;
  }
  if (!events.empty() && last != 0 && number(events.front(), "number") > last + 1) {
    note(absl::StrCat(number(events.front(), "number") - last - 1, " events were lost in between"));
  }
  for (const Json& event : events) {
    if (number(event, "number") <= last) continue;
    last = number(event, "number");
    const std::string age = absl::StrCat(age_text(number(event, "age_ms")), " ago");
    absl::StrAppend(&lines, json ? event.dump() : absl::StrCat(age, "  ", text(event, "text")), "\n");
  }
  return lines;
}

class EventsVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "events",
            .summary = "the last 1000 things that happened to the node, oldest first",
            .examples = {"cableway events", "cableway events --follow", "cableway events --follow --json"},
            .arguments = {flag("--json", json_, "as JSON; with --follow, an object a line"),
                          flag("--follow,-f", follow_, "go on with those that come, until it is interrupted")}};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const auto ask = [&]() -> absl::StatusOr<std::string> {
      absl::StatusOr<NodeView> view = ask_node(invocation.settings, "events", invocation.surroundings.node_deadline);
      if (!view.ok()) return view.status();
      return std::move(view->text);
    };
    if (follow_) return follow_events({json_, ask, invocation.surroundings.pause}, invocation.out);
    const absl::StatusOr<std::string> answer = ask();
    if (!answer.ok()) return answer.status();
    return as_answer(json_ ? answer_as_json(*answer, "events") : events_text(*answer));
  }

 private:
  bool json_ = false;
  bool follow_ = false;
};

}  // namespace

std::unique_ptr<Verb> events_verb() {
  return std::make_unique<EventsVerb>();
}

absl::StatusOr<std::string> events_text(const std::string& answer) {
  return render_answer(answer, "events", [](const Json& view) {
    using Align = TextTable::Align;
    TextTable table({{"ago", Align::kRight}, {"what happened to node " + text(view, "node")}});
    for (const Json& event : view.at("events")) {
      table.add_row({age_text(number(event, "age_ms")), text(event, "text")});
    }
    return table.text();
  });
}

absl::Status follow_events(const EventTail& tail, std::ostream& out) {
  Shown shown;
  while (true) {
    const absl::StatusOr<std::string> answer = tail.ask();
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<std::string> lines =
        render_answer(*answer, "events", [&](const Json& view) { return new_lines(view, tail.json, shown); });
    if (!lines.ok()) return lines.status();
    out << *lines << std::flush;
    if (!out) return absl::UnavailableError("cannot write the events to standard output");
    tail.pause();
  }
}

}  // namespace cableway::cli
