// Feeds bytes to the decoder of session messages, which other processes of this host send.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "core/printable.h"
#include "core/session/session_message.h"
#include "core/wire.h"
#include "tests/fuzz/require.h"

using cableway::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const absl::StatusOr<SessionMessage> message =
      decode_session_message(std::span(reinterpret_cast<const std::byte*>(data), size));
  if (!message.ok()) {
    require(!message.status().message().empty(), "an error without a reason");
    return 0;
  }
  const std::vector<std::byte> framed = encode_session_message(*message);
  WireReader reader(framed);
  require(reader.get<std::uint32_t>() == framed.size() - sizeof(std::uint32_t), "a length that is not the message's");
  const absl::StatusOr<SessionMessage> again = decode_session_message(std::span(framed).subspan(sizeof(std::uint32_t)));
  require(again.ok() && *again == *message, "a message does not survive a round trip");
  if (const auto* reply = std::get_if<PathReply>(&*message)) {
    require(reply->paths.size() <= kMaxPaths, "paths without a bound");
    for (const std::vector<Hop>& path : reply->paths) require(path.size() <= kMaxHops, "a path without a bound");
  }
  if (const auto* request = std::get_if<CableProbeRequest>(&*message)) {
    require(request->cables.size() <= kMaxProbedCables, "a test without a bound");
  }
  if (const auto* reply = std::get_if<CableProbeReply>(&*message)) {
    require(reply->cables.size() <= kMaxProbedCables, "rates without a bound");
  }
  if (const auto* flow = std::get_if<FlowOpened>(&*message)) {
    const std::string shown = flow->node + flow->path + flow->port + flow->transport.over + flow->transport.reason;
    require(shown.size() < 1024, "a flow without a bound");
    require(printable(shown) == shown, "a flow that a terminal may not show");
  }
  if (const auto* lost = std::get_if<PortLost>(&*message)) {
    require(lost->interface.size() + lost->reason.size() < 512, "a lost port without a bound");
    require(printable(lost->reason) == lost->reason, "a reason that a terminal may not show");
  }
  return 0;
}
