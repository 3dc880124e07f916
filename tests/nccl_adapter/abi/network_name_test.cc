#include "nccl_adapter/abi/network_name.h"

#include <gtest/gtest.h>

namespace cableway::nccl {
namespace {

TEST(NetworkName, AnotherIsNamedUnlessItIsThisOne) {
  EXPECT_FALSE(names_another_network(nullptr));
  for (const char* const net : {"cableway", "Cableway", "CABLEWAY"}) EXPECT_FALSE(names_another_network(net)) << net;
  for (const char* const net : {"", "Socket", "IB", "cableway2"}) EXPECT_TRUE(names_another_network(net)) << net;
}

}  // namespace
}  // namespace cableway::nccl
