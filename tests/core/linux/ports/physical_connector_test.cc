#include "core/linux/ports/physical_connector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cableway::host {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kBoard[] = "fc4c:ea03:00f9:4230";

// Whether two interfaces with these clues share a plug.
bool are_joined(const ConnectorClues& a, const ConnectorClues& b) {
  const auto plugs = find_plugs({{1, a}, {2, b}});
  return plugs.size() == 2 && plugs.at(1) == plugs.at(2);
}

TEST(PhysicalConnectorTest, ThePairedInterfacesOfASparkShareAPlug) {
  const auto plugs = find_plugs({{2, {"0000:01:00.0", "p0", "", kBoard}},
                                 {3, {"0000:01:00.1", "p1", "", kBoard}},
                                 {4, {"0002:01:00.0", "p0", "", kBoard}},
                                 {5, {"0002:01:00.1", "p1", "", kBoard}}});
  ASSERT_THAT(plugs, SizeIs(4));
  EXPECT_EQ(plugs.at(2), plugs.at(4));
  EXPECT_EQ(plugs.at(3), plugs.at(5));
  EXPECT_NE(plugs.at(2), plugs.at(3));
}

TEST(PhysicalConnectorTest, TheSwitchIdNamesABoardToo) {
  EXPECT_TRUE(are_joined({"0000:01:00.0", "p0", "9a1c04", ""}, {"0002:01:00.0", "p0", "9a1c04", ""}));
  EXPECT_FALSE(are_joined({"0000:01:00.0", "p0", "9a1c04", ""}, {"0002:01:00.0", "p0", "9a1c05", ""}));
}

TEST(PhysicalConnectorTest, FunctionsOfOneSlotWithOnePortNameAreOnePlug) {
  EXPECT_TRUE(are_joined({"0000:01:00.0", "p0", "", ""}, {"0000:01:00.1", "p0", "", ""}));
  EXPECT_FALSE(are_joined({"0000:01:00.0", "p0", "", ""}, {"0000:01:00.1", "p1", "", ""}));
}

TEST(PhysicalConnectorTest, TwoAdaptersAreNotJoined) {
  EXPECT_FALSE(are_joined({"0000:01:00.0", "p0", "", kBoard}, {"0000:02:00.0", "p0", "", "506b:4b03:00c2:c1de"}));
  EXPECT_FALSE(are_joined({"0000:01:00.0", "p0", "", ""}, {"0002:01:00.0", "p0", "", ""}));
}

TEST(PhysicalConnectorTest, NothingIsJoinedWithoutAPortName) {
  EXPECT_THAT(find_plugs({{1, {"0000:01:00.0", "", "9a1c04", kBoard}}, {2, {"0000:01:00.1", "", "9a1c04", kBoard}}}),
              IsEmpty());
}

TEST(PhysicalConnectorTest, SplitCablesAndVirtualFunctionsAreNotJoined) {
  EXPECT_THAT(find_plugs({{1, {"0000:01:00.0", "p0s0", "9a1c04", kBoard}},
                          {2, {"0000:01:00.1", "pf0vf1", "9a1c04", kBoard}},
                          {3, {"0000:01:00.1", "p", "9a1c04", kBoard}}}),
              IsEmpty());
}

TEST(PhysicalConnectorTest, OtherDevicesThanPciFunctionsHaveNoPlug) {
  EXPECT_THAT(find_plugs({{1, {"", "p0", "9a1c04", kBoard}}, {2, {"virtio1", "p0", "9a1c04", kBoard}}}), IsEmpty());
}

TEST(PhysicalConnectorTest, DifferentCluesMayLinkThreeHalves) {
  const auto plugs = find_plugs({{1, {"0000:01:00.0", "p0", "9a1c04", ""}},
                                 {2, {"0002:01:00.0", "p0", "", kBoard}},
                                 {3, {"0000:01:00.1", "p0", "9a1c04", kBoard}}});
  ASSERT_THAT(plugs, SizeIs(3));
  EXPECT_EQ(plugs.at(1), plugs.at(2));
  EXPECT_EQ(plugs.at(1), plugs.at(3));
}

}  // namespace
}  // namespace cableway::host
