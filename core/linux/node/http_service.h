// The page and the metrics of a node on a host: makes the documents that the HTTP server asks for, and opens the server
// again and again while its address is taken.
#ifndef CABLEWAY_CORE_LINUX_NODE_HTTP_SERVICE_H_
#define CABLEWAY_CORE_LINUX_NODE_HTTP_SERVICE_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/cluster_view/other_ports.h"
#include "core/event/event_sink.h"
#include "core/linux/http/http_server.h"
#include "core/live/gone_cables.h"
#include "core/metrics/host_measures.h"
#include "core/settings/settings.h"
#include "core/view/view_table.h"

namespace cableway::host {

// Lives on the thread that runs `io`; the server has its own.
class HttpService {
 public:
  struct Sources {
    std::function<ViewSources()> views;
    std::function<HostTraffic()> traffic;  // of this node's ports
    std::function<std::vector<GoneCable>()> gone;
    OtherPorts::Ask all_nodes;  // for their views
  };

  // Null without an error if the settings do not ask for it. A token file that cannot be used is an error; an address
  // that cannot be used is not (problem()). All arguments except `settings` must outlive it.
  static absl::StatusOr<std::unique_ptr<HttpService>> start(boost::asio::io_context& io, Clock& clock,
                                                            EventSink& events, const Settings& settings,
                                                            Sources sources);
  ~HttpService();
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  // Why nothing is served now; empty: it is.
  const std::string& problem() const { return problem_; }

 private:
  // No views of sessions, since they are made for the page alone.
  struct PageDocument {
    std::string_view name;
    std::string (*write)(HttpService& self, const ViewSources& from);
  };
  static const PageDocument kPageDocuments[4];

  HttpService(boost::asio::io_context& io, Clock& clock, EventSink& events, Sources sources);
  void listen();
  void make(const std::string& name, const std::function<void(MadeDocument)>& take);
  Document make_document(const std::string& name);

  boost::asio::io_context& io_;
  Clock& clock_;
  EventSink& events_;
  const Sources sources_;
  HttpServer::Options options_;
  std::optional<OtherPorts> others_;
  std::string problem_;
  std::unique_ptr<Timer> retry_;
  std::shared_ptr<char> lifetime_ = std::make_shared<char>();  // for work that the server has posted
  std::unique_ptr<HttpServer> server_;                         // null: nothing is served
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_NODE_HTTP_SERVICE_H_
