// What a node answers to an HTTP request: its page, a document, a stream of documents, or a refusal.
#ifndef CABLEWAY_CORE_HTTP_HTTP_ROUTE_H_
#define CABLEWAY_CORE_HTTP_HTTP_ROUTE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/http_access.h"

namespace cableway {

// The parts of a request that decide. All are untrusted.
struct HttpRequest {
  std::string_view method;
  std::string_view target;
  std::vector<std::string_view> hosts;  // the values of all Host headers
  std::string_view authorization;
};

struct HttpRoute {
  enum class To { kRefusal, kPage, kDocument, kStream };

  To to = To::kRefusal;
  unsigned status = 404;
  std::string text;      // of a refusal: one line for people, which contains nothing of the request
  std::string document;  // its name: "metrics", or that of a view
};

inline constexpr std::string_view kMetricsDocument = "metrics";

// `views`: the names of the documents below /api/. Refuses all but GET and HEAD of a known path; a query,
// such as a link may have, is ignored. The page has no data, so it needs no token.
HttpRoute route(const HttpRequest& request, const HttpAccess& access, std::span<const std::string_view> views);

}  // namespace cableway

#endif  // CABLEWAY_CORE_HTTP_HTTP_ROUTE_H_
