#include "tools/cableway/command_line.h"

#include <ostream>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/linux/files/settings_reader.h"
#include "core/settings/settings.h"
#include "tools/cableway/answer.h"
#include "tools/cableway/node/node_query.h"
#include "tools/cableway/request.h"
#include "tools/cableway/views/events_view.h"

namespace cableway::cli {
namespace {

absl::StatusOr<Settings> read_settings(const Request& request, const Surroundings& surroundings) {
  host::SettingsPlaces places{
      .environment = surroundings.environment, .host_name = surroundings.host_name, .options = {}};
  if (!request.config.empty()) {
    places.options.push_back({.key = "config", .value = request.config, .origin = "--config"});
  }
  return host::read_settings(places);
}

int fail(std::ostream& err, const absl::Status& status, int exit_status) {
  err << "cableway: " << std::string(status.message()) << "\n";
  return exit_status;
}

int follow(const Request& request, const Settings& settings, const Surroundings& surroundings, std::ostream& out,
           std::ostream& err) {
  const EventTail tail{request.json(), request.events,
                       [&]() -> absl::StatusOr<std::string> {
                         absl::StatusOr<NodeView> view = ask_node(settings, "events", surroundings.node_deadline);
                         if (!view.ok()) return view.status();
                         return std::move(view->text);
                       },
                       surroundings.pause};
  const absl::Status end = follow_events(tail, out);
  return fail(err, end, exit_status_of(end));
}

}  // namespace

int exit_status_of(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kNotFound:
      return kNoNode;
    case absl::StatusCode::kDeadlineExceeded:
      return kNoAnswer;
    default:
      return kFailed;
  }
}

int run(const std::vector<std::string>& arguments, const Surroundings& surroundings, std::ostream& out,
        std::ostream& err) {
  const std::variant<Request, int> parsed = parse_request(arguments, out, err);
  if (const int* exit_status = std::get_if<int>(&parsed)) return *exit_status;
  const Request& request = std::get<Request>(parsed);
  const absl::StatusOr<Settings> settings = read_settings(request, surroundings);
  if (!settings.ok()) return fail(err, settings.status(), kNotUsable);
  if (request.follow) return follow(request, *settings, surroundings, out, err);
  const absl::StatusOr<Answer> answer = find_answer(request, *settings, surroundings, err);
  if (!answer.ok()) return fail(err, answer.status(), exit_status_of(answer.status()));
  for (const std::string& remark : answer->remarks) err << "cableway: " << remark << "\n";
  out << answer->text << std::flush;
  if (!out) return fail(err, absl::UnavailableError("cannot write the answer to standard output"), kFailed);
  return answer->exit_status;
}

}  // namespace cableway::cli
