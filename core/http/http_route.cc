#include "core/http/http_route.h"

#include <algorithm>
#include <utility>

namespace cableway {
namespace {

using To = HttpRoute::To;

HttpRoute refusal(unsigned status, std::string text) {
  return {To::kRefusal, status, std::move(text), ""};
}

// Where a path leads if all may go there.
HttpRoute destination(std::string_view path, std::span<const std::string_view> views) {
  constexpr std::string_view kApi = "/api/";
  if (path == "/") return {To::kPage, 200, "", ""};
  if (path == "/metrics") return {To::kDocument, 200, "", std::string(kMetricsDocument)};
  if (path == "/events") return {To::kStream, 200, "", ""};
  if (path.starts_with(kApi)) {
    const std::string_view name = path.substr(kApi.size());
    if (std::find(views.begin(), views.end(), name) != views.end()) return {To::kDocument, 200, "", std::string(name)};
  }
  return refusal(404, "there is nothing here; expected /, /metrics, /events or /api/ with the name of a view");
}

}  // namespace

HttpRoute route(const HttpRequest& request, const HttpAccess& access, std::span<const std::string_view> views) {
  if (request.method != "GET" && request.method != "HEAD") return refusal(405, "expected GET or HEAD");
  if (request.hosts.size() != 1) return refusal(400, "expected one Host header");
  if (!access.is_own_host(request.hosts.front())) {
    return refusal(403, "the Host header names another host; expected localhost, 127.0.0.1 or [::1]");
  }
  HttpRoute to = destination(request.target.substr(0, request.target.find('?')), views);
  if (to.to == To::kStream && request.method != "GET") return refusal(405, "expected GET");
  const bool is_open = to.to == To::kPage || to.to == To::kRefusal;
  if (!is_open && !access.is_permitted(request.authorization)) {
    return refusal(401, "expected the header \"Authorization: Bearer TOKEN\" with the token of http_token_file");
  }
  return to;
}

}  // namespace cableway
