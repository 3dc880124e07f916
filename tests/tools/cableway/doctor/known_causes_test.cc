#include "tools/cableway/doctor/known_causes.h"

#include <gtest/gtest.h>

#include <string>

namespace cableway::cli {
namespace {

Json problem(const std::string& code, const Json& neighbour, const Json& cable) {
  return {{"code", code},
          {"interface", cable.is_null() ? "eth0" : ""},
          {"neighbour", neighbour},
          {"cable", cable},
          {"text", "cable c1 of node n1"},
          {"seconds", nullptr}};
}

TEST(KnownCauses, AreOfTheCableThatTheyName) {
  const KnownCauses causes(Json::array({problem("CABLE_LOSSY", nullptr, "c10")}));
  EXPECT_TRUE(causes.has_of_cable(EventCode::kCableLossy, "c10"));
  EXPECT_FALSE(causes.has_of_cable(EventCode::kCableLossy, "c1")) << "words decide nothing";
  EXPECT_FALSE(causes.has_of_cable(EventCode::kCableSilent, "c10"));
}

TEST(KnownCauses, AreOfTheNeighbourThatTheyName) {
  const KnownCauses causes(Json::array({problem("CABLE_REFUSED", "n10", nullptr)}));
  EXPECT_TRUE(causes.explain_neighbour("eth0", "n10"));
  EXPECT_FALSE(causes.explain_neighbour("eth0", "n1")) << "words decide nothing";
  EXPECT_FALSE(causes.explain_neighbour("eth1", "n10"));
}

// A refusal that names none is of one that is not among the neighbours.
TEST(KnownCauses, OfNoNamedNeighbourAreOfOneThatIsNotHeard) {
  for (const char* code : {"KEY_DIFFERS", "SEGMENT_CROWDED"}) {
    const KnownCauses causes(Json::array({problem(code, nullptr, nullptr)}));
    EXPECT_TRUE(causes.explain_no_answer("eth0", "n1", false)) << code;
    EXPECT_FALSE(causes.explain_no_answer("eth0", "n1", true)) << code;
    EXPECT_FALSE(causes.explain_no_answer("eth1", "n1", false)) << code;
  }
  const KnownCauses named(Json::array({problem("KEY_DIFFERS", "n1", nullptr)}));
  EXPECT_TRUE(named.explain_no_answer("eth0", "n1", true));
  EXPECT_FALSE(named.explain_no_answer("eth0", "n2", false));
  const KnownCauses mute(Json::array({problem("CONTROL_SOCKET_FAILED", nullptr, nullptr)}));
  EXPECT_TRUE(mute.explain_no_answer("eth0", "n1", true)) << "nothing is sent";
}

TEST(KnownCauses, OfAnEarlierVersionExplainNoNeighbour) {
  Json earlier = problem("CABLE_REFUSED", "n1", nullptr);
  earlier.erase("neighbour");
  earlier.erase("cable");
  const KnownCauses causes(Json::array({earlier}));
  EXPECT_FALSE(causes.explain_neighbour("eth0", "n1"));
  EXPECT_TRUE(causes.explain_unsent("eth0")) << "the rest is known";
}

TEST(KnownCauses, OfAnotherTypeAreMalformed) {
  EXPECT_THROW(KnownCauses(Json::array({problem("CABLE_REFUSED", 7, nullptr)})), Json::exception);
}

}  // namespace
}  // namespace cableway::cli
