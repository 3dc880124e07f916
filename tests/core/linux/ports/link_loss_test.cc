#include "core/linux/ports/link_loss.h"

#include <gtest/gtest.h>

namespace cableway::host {
namespace {

KernelLink link_with(bool up, bool carrier) {
  KernelLink link;
  link.name = "eth1";
  link.up = up;
  link.carrier = carrier;
  link.mtu = 1500;
  return link;
}

TEST(LinkLoss, IsACarrierThatWasThere) {
  const KernelLink well = link_with(true, true);
  const KernelLink unplugged = link_with(true, false);
  const KernelLink down = link_with(false, false);
  EXPECT_EQ(link_loss(well, &unplugged), "the port has lost its carrier");
  EXPECT_EQ(link_loss(well, &down), "the interface was set down");
  EXPECT_EQ(link_loss(well, nullptr), "the interface is gone");
}

TEST(LinkLoss, IsReportedOnce) {
  const KernelLink well = link_with(true, true);
  const KernelLink unplugged = link_with(true, false);
  const KernelLink down = link_with(false, false);
  EXPECT_EQ(link_loss(unplugged, &down), "");
  EXPECT_EQ(link_loss(down, nullptr), "");
  EXPECT_EQ(link_loss(down, &unplugged), "");
  EXPECT_EQ(link_loss(unplugged, &well), "");
}

TEST(LinkLoss, IsNoOtherChange) {
  const KernelLink before = link_with(true, true);
  KernelLink now = before;
  EXPECT_EQ(link_loss(before, &now), "");
  now.name = "eth2";
  now.mtu = 9000;
  now.master = 7;
  now.revision = 9;
  EXPECT_EQ(link_loss(before, &now), "");
}

}  // namespace
}  // namespace cableway::host
