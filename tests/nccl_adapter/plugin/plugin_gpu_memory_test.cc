// What the plugin answers NCCL if hops go over TCP and NCCL registers GPU memory anyway.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class PluginGpuMemory : public testing::Test {
 protected:
  void SetUp() override {
    void* const library = ::dlopen(CABLEWAY_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    table_ = static_cast<const abi::NetV11*>(::dlsym(library, "ncclNetPlugin_v11"));
    ASSERT_NE(table_, nullptr);
  }

  World world_{"a"};
  Rank rank_{11};
  const abi::NetV11* table_ = nullptr;
  std::array<std::byte, 4096> bytes_{};
};

TEST_F(PluginGpuMemory, IsRefusedOnBothEndsOfAFlowWithAReason) {
  auto [sender, receiver] = rank_.connect_to_self();
  for (void* comm : {sender, receiver}) {
    void* region = this;
    EXPECT_EQ(table_->regMr(comm, bytes_.data(), bytes_.size(), abi::kPtrCuda, &region), abi::kInvalidUsage);
    EXPECT_EQ(region, nullptr);
    region = this;
    EXPECT_EQ(table_->regMrDmaBuf(comm, bytes_.data(), bytes_.size(), abi::kPtrCuda, 0, 1, &region),
              abi::kInvalidUsage);
    EXPECT_EQ(region, nullptr);
  }
  for (const char* call :
       {"regMr: flow to ", "regMr: flow from ", "regMrDmaBuf: flow to ", "regMrDmaBuf: flow from "}) {
    EXPECT_THAT(warnings(), Contains(testing::AllOf(HasSubstr(call), HasSubstr("goes over TCP, which cannot carry"))));
  }
}

TEST_F(PluginGpuMemory, NamesUnknownKinds) {
  auto [sender, receiver] = rank_.connect_to_self();
  void* region = nullptr;
  EXPECT_EQ(table_->regMr(sender, bytes_.data(), bytes_.size(), 9, &region), abi::kInvalidArgument);
  EXPECT_EQ(table_->regMrDmaBuf(receiver, bytes_.data(), bytes_.size(), abi::kPtrHost, 0, 1, &region),
            abi::kInvalidArgument);
  EXPECT_EQ(table_->regMrDmaBuf(receiver, bytes_.data(), bytes_.size(), abi::kPtrCuda, 0, -1, &region),
            abi::kInvalidArgument);
  for (const char* words : {"memory of type 9; expected 1 (host) or 2 (CUDA)", "a dmabuf of type 1; expected 2 (CUDA)",
                            "the dmabuf's descriptor is -1"}) {
    EXPECT_THAT(warnings(), Contains(HasSubstr(words)));
  }
}

TEST_F(PluginGpuMemory, AFlushOfHostMemoryIsDoneAtOnce) {
  auto [sender, receiver] = rank_.connect_to_self();
  const Buffer buffer = rank_.make_buffer(receiver, 4096, 1);
  for (const int bytes : {4096, 0}) {
    void* data = const_cast<std::byte*>(buffer.bytes.data());
    void* mhandle = buffer.mhandle;
    int size = bytes;
    void* request = this;
    EXPECT_EQ(table_->iflush(receiver, 1, &data, &size, &mhandle, &request), abi::kSuccess);
    EXPECT_EQ(request, nullptr);
  }
  static_cast<void>(sender);
}

TEST(PluginGpuMemoryByVerbs, IsNotReportedIfThePortsHaveNoRdma) {
  const World world("a");
  ::setenv("CABLEWAY_TRANSPORT", "verbs", 1);
  {
    Rank rank(11);
    collperf::DeviceProperties device;
    EXPECT_EQ(rank.net().get_properties(0, &device), abi::kSuccess);
    EXPECT_EQ(device.ptr_support, abi::kPtrHost);
  }
  ::unsetenv("CABLEWAY_TRANSPORT");
}

}  // namespace
}  // namespace cableway::nccl::test
