// What doctor says about who may open sessions with the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {
namespace {

Examined examined_node() {
  Examined examined;
  examined.host.sessions.user = "eve";
  examined.status = Json::parse(R"({"node": "n1", "cluster": "lab", "draining": false, "draining_cables": [],
    "problems": [], "relayed": {"circuits_broken": 0, "setups_refused": 0}})");
  return examined;
}

// "severity CODE: what -> advice" of the finding about `subject`.
std::string found(const Examined& examined, const std::string& subject) {
  for (const Finding& finding : examine(examined)) {
    if (finding.about != subject || finding.code == "NODE_ANSWERS") continue;
    return std::string(name_of(finding.severity)) + " " + finding.code + ": " + finding.what + " -> " + finding.advice;
  }
  return "";
}

TEST(DoctorSessions, WhoMayOpenThem) {
  Examined examined = examined_node();
  const auto ok = [](const std::string& who) {
    return "ok SESSION_ACCESS: " + who + " may open sessions with the node here -> ";
  };
  EXPECT_EQ(found(examined, "sessions"), ok("only root and user eve")) << "a node of eve's has no shared socket";
  examined.host.sessions.has_socket = true;
  examined.host.sessions.group = "cableway";
  examined.host.sessions.members = 2;
  EXPECT_EQ(found(examined, "sessions"), ok("root and group cableway (2 members)"));
  examined.host.sessions.everyone = true;
  EXPECT_EQ(found(examined, "sessions"), ok("every user"));
}

TEST(DoctorSessions, AMissingGroupIsNamedWithTheCommandsThatCreateIt) {
  Examined examined = examined_node();
  examined.host.sessions.has_socket = true;
  EXPECT_THAT(found(examined, "sessions"),
              ::testing::StartsWith("info SESSION_GROUP_MISSING: only root may open sessions with the node here -> "
                                    "groupadd --system cableway; usermod -aG cableway USER"));
}

TEST(DoctorSessions, AUserWhoMayNotIsToldTheCommand) {
  Examined examined = examined_node();
  examined.status.reset();
  examined.node = absl::PermissionDeniedError("user eve may not open sessions\nsudo usermod -aG cableway eve");
  EXPECT_EQ(found(examined, "node"),
            "error SESSION_NOT_ALLOWED: user eve may not open sessions -> sudo usermod -aG cableway eve");
}

}  // namespace
}  // namespace cableway::cli
