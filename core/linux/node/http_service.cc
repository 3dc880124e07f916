#include "core/linux/node/http_service.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "core/http/http_route.h"
#include "core/linux/files/token_reader.h"
#include "core/linux/os/process_use.h"
#include "core/live/live_json.h"
#include "core/live/log_json.h"
#include "core/live/map_json.h"
#include "core/metrics/node_metrics.h"

namespace cableway::host {
namespace {

constexpr std::chrono::seconds kRetryAfter{2};

Document document_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

constexpr HttpService::PageDocument HttpService::kPageDocuments[] = {
    {"map",
     [](HttpService& self, const ViewSources& from) {
       return map_json(from.topology(), from.node.identity().name, self.sources_.gone());
     }},
    {"live", [](HttpService& self,
                const ViewSources& from) { return live_json(from, self.sources_.traffic(), from.run.version); }},
    {"others", [](HttpService& self, const ViewSources&) { return self.others_->json(); }},
    {"log", [](HttpService&, const ViewSources& from) { return log_json(from.node.events()); }},
};

HttpService::HttpService(boost::asio::io_context& io, Clock& clock, EventSink& events, Sources sources)
    : io_(io), clock_(clock), events_(events), sources_(std::move(sources)) {}

HttpService::~HttpService() {
  lifetime_.reset();
}

absl::StatusOr<std::unique_ptr<HttpService>> HttpService::start(boost::asio::io_context& io, Clock& clock,
                                                                EventSink& events, const Settings& settings,
                                                                Sources sources) {
  std::unique_ptr<HttpService> service;
  if (!settings.http) return service;
  service.reset(new HttpService(io, clock, events, std::move(sources)));
  service->options_.address = *settings.http;
  if (!settings.http_token_file.empty()) {
    absl::StatusOr<std::string> token = read_token(settings.http_token_file);
    if (!token.ok()) return token.status();
    service->options_.token = *std::move(token);
  }
  for (const View& view : all_views()) service->options_.views.push_back(view.name);
  for (const PageDocument& each : kPageDocuments) {
    service->options_.views.push_back(each.name);
    service->options_.streamed.emplace_back(each.name);
  }
  service->others_.emplace(clock, service->sources_.views().node.identity().name, service->sources_.all_nodes);
  service->listen();
  return service;
}

void HttpService::listen() {
  retry_.reset();
  auto server = HttpServer::start(options_, [this, life = std::weak_ptr<char>(lifetime_)](
                                                const std::string& name, std::function<void(MadeDocument)> take) {
    boost::asio::post(io_, [this, life, name, take = std::move(take)] {
      if (!life.expired()) make(name, take);
    });
  });
  if (server.ok()) {
    problem_.clear();
    server_ = *std::move(server);
    return;
  }
  std::string reason(server.status().message());
  // Retried often, reported once.
  if (reason != problem_) events_.raise(EventCode::kHttpFailed, reason, {{"reason", reason}});
  problem_ = std::move(reason);
  retry_ = clock_.call_after(kRetryAfter, [this] { listen(); });
}

Document HttpService::make_document(const std::string& name) {
  const ViewSources from = sources_.views();
  if (name == kMetricsDocument) {
    return document_of(node_metrics(from, {sources_.traffic(), read_process_use()}, from.run.version));
  }
  for (const PageDocument& each : kPageDocuments) {
    if (each.name == name) return document_of(each.write(*this, from));
  }
  ViewReply reply = answer_view(name, from);
  return reply.error.empty() ? document_of(std::move(reply.text)) : nullptr;
}

void HttpService::make(const std::string& name, const std::function<void(MadeDocument)>& take) {
  const Instant begin = clock_.now();
  Document document = make_document(name);
  take({std::move(document), clock_.now() - begin});
}

}  // namespace cableway::host
