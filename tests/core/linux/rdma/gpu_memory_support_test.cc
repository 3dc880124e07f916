#include "core/linux/rdma/gpu_memory_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/core/linux/fake_sysfs.h"
#include "tests/core/linux/rdma/fake_verbs.h"

namespace cableway::host {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;

// Two ports with a device each: eth1 with 10.7.1.1, eth2 with 10.7.2.1.
class GpuMemorySupportTest : public testing::Test {
 protected:
  GpuMemorySupportTest() {
    settings_.transport = TransportSetting::kVerbs;
    for (const std::string port : {"1", "2"}) {
      const std::string device = "mlx5_" + port;
      sysfs_.add_rdma_device(device);
      sysfs_.link_device("class/infiniband/" + device, "0000:0" + port + ":00.0");
      sysfs_.link_device("class/net/eth" + port, "0000:0" + port + ":00.0");
      sysfs_.add_gid(device, 3, "eth" + port, "0000:0000:0000:0000:0000:ffff:0a07:0" + port + "01");
      sysfs_.write("class/infiniband_verbs/uverbs" + port + "/ibdev", device);
      sysfs_.write("dev/uverbs" + port, "");
    }
  }

  void load_peer_memory() { sysfs_.write("module/nvidia_peermem/version", "570.86.15"); }
  GpuMemorySupport find() { return gpu_memory_support(addresses_, settings_, host()); }
  void expect_none(const std::string& why) {
    const GpuMemorySupport found = find();
    EXPECT_FALSE(found.any());
    EXPECT_THAT(found.why_not, HasSubstr(why));
  }
  void expect(bool dmabuf, bool peer_memory) {
    const GpuMemorySupport found = find();
    EXPECT_EQ(found.dmabuf, dmabuf) << found.why_not;
    EXPECT_EQ(found.peer_memory, peer_memory) << found.why_not;
    EXPECT_EQ(found.why_not, "");
  }

  static VerbsGid gid(std::uint8_t port) {
    VerbsGid gid{3, {}};
    gid.bytes[10] = gid.bytes[11] = std::byte{0xff};
    gid.bytes[12] = std::byte{10};
    gid.bytes[13] = std::byte{7};
    gid.bytes[14] = std::byte{port};
    gid.bytes[15] = std::byte{1};
    return gid;
  }
  GpuMemoryHost host() const {
    GpuMemoryHost host;
    host.verbs = {Sysfs(sysfs_.root()), sysfs_.root() + "/dev",
                  [](const routing::PortAddress& asked) { return "eth" + std::to_string(asked.bytes[2]); }};
    host.open = [this](const std::string& name) { return VerbsDevice::open(name, verbs_.library()); };
    return host;
  }

  test::FakeSysfs sysfs_;
  test::FakeVerbs verbs_;
  test::FakeVerbsDevice& first_ = verbs_.add("mlx5_1", gid(1));
  test::FakeVerbsDevice& second_ = verbs_.add("mlx5_2", gid(2));
  std::vector<std::string> addresses_{"10.7.1.1", "10.7.2.1"};
  Settings settings_;
};

TEST_F(GpuMemorySupportTest, DmabufsNeedADeviceThatChecksTheDescriptor) {
  expect(true, false);
  EXPECT_EQ(first_.reads, 1U);
  EXPECT_EQ(second_.reads, 1U);
}

TEST_F(GpuMemorySupportTest, NothingOfTheProbeStaysRegistered) {
  EXPECT_TRUE(find().any());
  ASSERT_FALSE(first_.registrations.empty());
  EXPECT_THAT(first_.registrations, Each(Field(&test::FakeRegistration::is_live, false)));
}

TEST_F(GpuMemorySupportTest, PeerMemoryNeedsTheModule) {
  first_.dmabuf_error = second_.dmabuf_error = EOPNOTSUPP;
  expect_none("mlx5_1 or this kernel cannot register dmabufs, and the kernel's nvidia_peermem module is not loaded");
  load_peer_memory();
  expect(false, true);
}

TEST_F(GpuMemorySupportTest, TheModuleMayHaveAnyOfItsNames) {
  first_.dmabuf_error = second_.dmabuf_error = EPROTONOSUPPORT;
  for (const char* module : {"kernel/mm/memory_peers/nv_mem", "kernel/mm/memory_peers/nv_mem_nc"}) {
    sysfs_.write(std::string(module) + "/version", "1.3");
    expect(false, true);
    sysfs_.remove(module);
  }
}

TEST_F(GpuMemorySupportTest, ReportsBothIfBothWork) {
  load_peer_memory();
  expect(true, true);
}

TEST_F(GpuMemorySupportTest, ReportsOnlyWhatEveryDeviceSupports) {
  load_peer_memory();
  second_.dmabuf_error = EOPNOTSUPP;
  expect(false, true);
  second_.vendor_id = 0xffffff;  // soft-RoCE
  expect_none("mlx5_2 or this kernel cannot register dmabufs, and nvidia_peermem does not work with RDMA device");
  second_.dmabuf_error = 0;
  expect(true, false);
}

TEST_F(GpuMemorySupportTest, ALibraryTooOldForDmabufsHasNone) {
  verbs_.library().reg_dmabuf_mr = nullptr;
  expect_none("cannot register dmabufs");
}

TEST_F(GpuMemorySupportTest, APortOverTcpPreventsIt) {
  sysfs_.remove("class/infiniband/mlx5_2");
  expect_none("the port with address 10.7.2.1 has no RDMA device");
}

TEST_F(GpuMemorySupportTest, AnUnusablePortPreventsIt) {
  sysfs_.write("class/infiniband/mlx5_2/ports/1/state", "1: DOWN");
  expect_none("mlx5_2 behind eth2 is not active");
}

TEST_F(GpuMemorySupportTest, AHostWithoutPortsHasNothing) {
  addresses_.clear();
  expect_none("no cable port");
}

TEST_F(GpuMemorySupportTest, NothingIsReportedOrProbedIfAHopMayUseTcp) {
  load_peer_memory();
  for (const TransportSetting transport : {TransportSetting::kAuto, TransportSetting::kTcp}) {
    settings_.transport = transport;
    expect_none("CABLEWAY_TRANSPORT is not verbs");
  }
  EXPECT_EQ(first_.reads, 0U);
}

TEST_F(GpuMemorySupportTest, ADeviceThatCannotBeFlushedIsNotUsed) {
  second_.queue_pair_error = ENOMEM;
  expect_none("mlx5_2 cannot create a queue pair of 32 reads");
  second_.queue_pair_error = 0;
  second_.read_status = IBV_WC_REM_ACCESS_ERR;
  expect_none("mlx5_2 cannot read back what was written");
}

TEST_F(GpuMemorySupportTest, ADeviceThatNeverReadsItselfIsGivenUp) {
  first_.holds_completions = true;
  expect_none("mlx5_1 did not read memory of its own host within 2 s");
}

}  // namespace
}  // namespace cableway::host
