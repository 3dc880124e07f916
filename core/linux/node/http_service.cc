#include "core/linux/node/http_service.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "core/http/http_route.h"
#include "core/linux/files/token_reader.h"
#include "core/linux/os/process_use.h"
#include "core/linux/ports/port_traffic.h"
#include "core/live/live_json.h"
#include "core/live/log_json.h"
#include "core/live/map_json.h"
#include "core/metrics/node_metrics.h"

namespace cableway::host {
namespace {

constexpr std::chrono::seconds kRetryAfter{2};

// Documents that are no views of sessions, since they are made for the page alone.
struct PageDocument {
  std::string_view name;
  std::string (*write)(const ViewSources& from, const std::vector<GoneCable>& gone);
};

constexpr PageDocument kPageDocuments[] = {
    {"map",
     [](const ViewSources& from, const std::vector<GoneCable>& gone) {
       return map_json(from.topology(), from.node.identity().name, gone);
     }},
    {"live",
     [](const ViewSources& from, const auto&) {
       return live_json(from, read_port_traffic(from.node.neighbours().ports()), from.run.version);
     }},
    {"log", [](const ViewSources& from, const auto&) { return log_json(from.node.events()); }},
};

Document document_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

HttpService::HttpService(boost::asio::io_context& io, Clock& clock, EventSink& events, const GoneCables& gone,
                         std::function<ViewSources()> sources)
    : io_(io), clock_(clock), events_(events), gone_(gone), sources_(std::move(sources)) {}

HttpService::~HttpService() {
  lifetime_.reset();
}

absl::StatusOr<std::unique_ptr<HttpService>> HttpService::start(boost::asio::io_context& io, Clock& clock,
                                                                EventSink& events, const Settings& settings,
                                                                const GoneCables& gone,
                                                                std::function<ViewSources()> sources) {
  std::unique_ptr<HttpService> service;
  if (!settings.http) return service;
  service.reset(new HttpService(io, clock, events, gone, std::move(sources)));
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

Document HttpService::make_document(const std::string& name) const {
  const ViewSources sources = sources_();
  if (name == kMetricsDocument) {
    const HostMeasures host = {read_port_traffic(sources.node.neighbours().ports()), read_process_use()};
    return document_of(node_metrics(sources, host, sources.run.version));
  }
  for (const PageDocument& each : kPageDocuments) {
    if (each.name == name) return document_of(each.write(sources, gone_.list(clock_.now())));
  }
  ViewReply reply = answer_view(name, sources);
  return reply.error.empty() ? document_of(std::move(reply.text)) : nullptr;
}

void HttpService::make(const std::string& name, const std::function<void(MadeDocument)>& take) const {
  const Instant begin = clock_.now();
  Document document = make_document(name);
  take({std::move(document), clock_.now() - begin});
}

}  // namespace cableway::host
