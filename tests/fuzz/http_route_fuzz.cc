// Feeds the parts of HTTP requests, one a line, to the decision what they get. Without the token nothing but the page
// may be served, and on the loopback nothing to requests for another host.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/http_route.h"
#include "tests/fuzz/require.h"

namespace {

using namespace cableway;
using fuzz::require;

constexpr std::array<std::string_view, 2> kViewNames = {"status", "live"};
constexpr std::string_view kToken = "0123456789abcdef";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (lines.size() < 16) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

void check(const HttpRequest& request, const HttpRoute& to, bool has_token) {
  require((to.to == HttpRoute::To::kRefusal) == (to.status != 200), "a refusal without its status");
  require((to.to == HttpRoute::To::kDocument) == !to.document.empty(), "a document without a name");
  require(to.text.size() < 128, "a text that is too long");
  if (to.to == HttpRoute::To::kRefusal) return;
  require(request.method == "GET" || request.method == "HEAD", "a method that does not read");
  require(request.hosts.size() == 1, "not one Host header");
  if (has_token && to.to != HttpRoute::To::kPage) {
    require(request.authorization.ends_with(kToken), "served without the token");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const HttpAccess loopback(*parse_http_address("127.0.0.1:7473"), "");
  static const HttpAccess elsewhere(*parse_http_address("10.7.0.1:7473"), std::string(kToken));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> lines = lines_of(text);
  HttpRequest request;
  request.method = lines[0];
  if (lines.size() > 1) request.target = lines[1];
  if (lines.size() > 2) request.authorization = lines[2];
  for (std::size_t i = 3; i < lines.size(); ++i) request.hosts.push_back(lines[i]);
  const HttpRoute here = route(request, loopback, kViewNames);
  check(request, here, false);
  if (here.to != HttpRoute::To::kRefusal) {
    const std::string_view host = request.hosts.front();
    const char first = host.empty() ? '\0' : host.front();
    require(first == '1' || first == '[' || first == 'l' || first == 'L', "served for another host");
  }
  check(request, route(request, elsewhere, kViewNames), true);
  if (const std::optional<HttpAddress> address = parse_http_address(text)) {
    require(parse_http_address(to_text(*address)) == address, "does not survive being shown");
  }
  return 0;
}
