#include "core/session/cluster_view_message.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "core/flow/frame.h"
#include "core/session/session_message.h"

namespace cableway {
namespace {

// Through the session's encoding. False: the decoder refuses it.
bool survives(const SessionMessage& message) {
  const std::vector<std::byte> framed = encode_session_message(message);
  const auto decoded = decode_session_message(std::span(framed).subspan(4));
  return decoded.ok() && *decoded == message;
}

ClusterViewReply with(NodeAnswer answer) {
  return {"", 7, 3, false, {std::move(answer)}};
}

TEST(ClusterViewMessageTest, SurvivesTheSession) {
  EXPECT_TRUE(survives(ClusterViewRequest{0, "status"}));
  EXPECT_TRUE(survives(ClusterViewRequest{~std::uint64_t{0}, ""}));
  EXPECT_TRUE(survives(ClusterViewReply{"no such view", 0, 0, true, {}}));
  EXPECT_TRUE(survives(with({"n1", NoView::kNone, "", "{\"node\": \"n1\"}"})));
  EXPECT_TRUE(survives(with({std::string(63, 'n'), NoView::kRefused, std::string(kMaxNoViewText, 'w'), ""})));
  EXPECT_TRUE(survives(with({"n1", NoView::kNone, "", std::string(kMaxDocumentBytes, ' ')})));
}

TEST(ClusterViewMessageTest, RefusesWhatIsBeyondItsBounds) {
  EXPECT_FALSE(survives(ClusterViewRequest{0, std::string(65, 'v')}));
  EXPECT_FALSE(survives(with({"", NoView::kNone, "", "{}"})));
  EXPECT_FALSE(survives(with({"n 1", NoView::kNone, "", "{}"})));
  EXPECT_FALSE(survives(with({"n1", NoView::kNone, "refused", "{}"}))) << "both";
  EXPECT_FALSE(survives(with({"n1", NoView::kRefused, "", ""}))) << "neither";
  EXPECT_FALSE(survives(with({"n1", NoView::kRefused, "refused", "{}"})));
  EXPECT_FALSE(survives(with({"n1", static_cast<NoView>(kNoViewKinds), "refused", ""})));
  EXPECT_FALSE(survives(with({"n1", NoView::kNone, "", std::string(kMaxDocumentBytes + 1, ' ')})));
}

TEST(ClusterViewMessageTest, MakesReasonsPrintableAndShort) {
  const std::vector<std::byte> framed =
      encode_session_message(with({"n1", NoView::kRefused, "\x1b[2J" + std::string(2 * kMaxNoViewText, 'w'), ""}));
  const auto decoded = decode_session_message(std::span(framed).subspan(4));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const std::string error = std::get<ClusterViewReply>(*decoded).answers.at(0).error;
  EXPECT_EQ(error.size(), kMaxNoViewText);
  EXPECT_EQ(error.substr(0, 4), "?[2J");
}

}  // namespace
}  // namespace cableway
