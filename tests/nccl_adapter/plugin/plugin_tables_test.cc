// The tables of the tuner and of the environment, found and called as NCCL does: by name, in the plugin's library.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include "nccl_adapter/abi/env_abi.h"
#include "nccl_adapter/abi/tuner_abi.h"
#include "tests/nccl_adapter/rank.h"
#include "tests/nccl_adapter/world.h"

namespace cableway::nccl::test {
namespace {

using Costs = std::array<float, static_cast<std::size_t>(abi::kAlgorithms* abi::kProtocols)>;

constexpr std::uint64_t kCommunicator = 7;  // as a Rank's
constexpr std::size_t kLarge = std::size_t{64} << 20;

Costs tree_is_cheaper() {
  Costs costs;
  costs.fill(abi::kCostNotAvailable);
  std::fill_n(costs.begin(), 3, 10.0F);
  std::fill_n(costs.begin() + 3, 3, 20.0F);
  return costs;
}

bool takes_ring(const Costs& costs) {
  const float tree = *std::min_element(costs.begin(), costs.begin() + 3);
  const float ring = *std::min_element(costs.begin() + 3, costs.begin() + 6);
  return ring < tree;
}

class Library {
 public:
  Library() : handle_(::dlopen(CABLEWAY_PLUGIN, RTLD_NOW | RTLD_LOCAL)) { EXPECT_NE(handle_, nullptr) << ::dlerror(); }
  ~Library() { ::dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <typename Table>
  const Table& table(const std::string& symbol) const {
    const auto* found = static_cast<const Table*>(::dlsym(handle_, symbol.c_str()));
    if (found == nullptr) ADD_FAILURE() << symbol << " is not exported";
    return *found;
  }

 private:
  void* handle_;
};

// One communicator's tuner, of any version.
class Tuner {
 public:
  Tuner(const Library& library, int version) : library_(library), version_(version) {}

  // A version that gets the communicator's id gets this one; a Rank's is 7.
  abi::Result init(std::size_t ranks, std::size_t nodes, std::uint64_t id = kCommunicator) {
    switch (version_) {
      case 3:
        return v3().init(ranks, nodes, nullptr, &context_);
      case 4:
        return v4().init(ranks, nodes, nullptr, &context_);
      case 5:
        return v5().init(&context_, id, ranks, nodes, nullptr, nullptr, nullptr);
      default:
        return v6().init(&context_, id, ranks, nodes, nullptr, nullptr, nullptr);
    }
  }

  abi::Result ask(abi::Function function, std::size_t bytes, float* costs, int algorithms, int protocols,
                  int* channels) const {
    auto** const table = reinterpret_cast<float**>(costs);
    switch (version_) {
      case 3:
        return v3().getCollInfo(context_, function, bytes, 1, table, algorithms, protocols, channels);
      case 4:
        return v4().getCollInfo(context_, function, bytes, 1, table, algorithms, protocols, 0, channels);
      case 5:
        return v5().getCollInfo(context_, function, bytes, 1, table, algorithms, protocols, 0, channels);
      default:
        return v6().getCollInfo(context_, function, bytes, 1, table, algorithms, protocols, 0, channels);
    }
  }

  abi::Result end() {
    switch (version_) {
      case 3:
        return v3().destroy(context_);
      case 4:
        return v4().destroy(context_);
      case 5:
        return v5().finalize(context_);
      default:
        return v6().finalize(context_);
    }
  }

  std::string name() const {
    return version_ == 3 ? v3().name : version_ == 4 ? v4().name : version_ == 5 ? v5().name : v6().name;
  }
  const abi::TunerV6& v6() const { return library_.table<abi::TunerV6>("ncclTunerPlugin_v6"); }

 private:
  const abi::TunerV3& v3() const { return library_.table<abi::TunerV3>("ncclTunerPlugin_v3"); }
  const abi::TunerV4& v4() const { return library_.table<abi::TunerV4>("ncclTunerPlugin_v4"); }
  const abi::TunerV5& v5() const { return library_.table<abi::TunerV5>("ncclTunerPlugin_v5"); }

  const Library& library_;
  const int version_;
  void* context_ = reinterpret_cast<void*>(1);  // init replaces it
};

// A job of four ranks on four nodes, as each rank's tuner sees it.
Costs costs_for_four(Tuner& tuner, std::uint64_t id = kCommunicator) {
  Costs costs = tree_is_cheaper();
  int channels = 0;
  EXPECT_EQ(tuner.init(4, 4, id), abi::kSuccess);
  EXPECT_EQ(tuner.ask(abi::kFunctionAllReduce, kLarge, costs.data(), abi::kAlgorithms, abi::kProtocols, &channels),
            abi::kSuccess);
  EXPECT_EQ(channels, 0) << "they are NCCL's";
  EXPECT_EQ(tuner.end(), abi::kSuccess);
  return costs;
}

class PluginTuner : public testing::TestWithParam<int> {
 protected:
  static bool has_ids() { return GetParam() >= 5; }
};

// Sets a variable while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

TEST_P(PluginTuner, ChoosesForAJobOverCableway) {
  const World world("a");
  const Rank rank(12);
  const Library library;
  Tuner tuner(library, GetParam());
  EXPECT_EQ(tuner.name(), "Cableway");
  // Before version 5 another rank might not use Cableway in this communicator.
  EXPECT_EQ(takes_ring(costs_for_four(tuner)), has_ids());
}

TEST_P(PluginTuner, ChoosesWhereTheCablingIsGiven) {
  const World world("a");
  const Variable cabling("CABLEWAY_TUNER", "ring");
  const Rank rank(12);
  const Library library;
  Tuner tuner(library, GetParam());
  EXPECT_TRUE(takes_ring(costs_for_four(tuner)));
  const Variable network("NCCL_NET", "Socket");
  // A communicator with an id uses Cableway, or it would be another's.
  EXPECT_EQ(takes_ring(costs_for_four(tuner)), has_ids());
}

// The process has joined its node for one communicator; another one has a network of its own (config.netName).
TEST_P(PluginTuner, LeavesAnotherCommunicatorToNccl) {
  const World world("a");
  const Library library;
  Tuner tuner(library, GetParam());
  {
    const Rank rank(12);
    EXPECT_EQ(costs_for_four(tuner, kCommunicator + 1), tree_is_cheaper());
    EXPECT_EQ(costs_for_four(tuner, 0), tree_is_cheaper());
  }
  EXPECT_EQ(costs_for_four(tuner), tree_is_cheaper()) << "its network is finalized";
}

TEST_P(PluginTuner, LeavesAllToNcclInAForkedChild) {
  const World world("a");
  const Variable cabling("CABLEWAY_TUNER", "ring");
  const Rank rank(12);
  const Library library;
  Tuner tuner(library, GetParam());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(costs_for_four(tuner) == tree_is_cheaper() ? 0 : 1);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(PluginTuner, LeavesAJobOverAnotherNetworkToNccl) {
  const Library library;
  Tuner tuner(library, GetParam());
  EXPECT_EQ(costs_for_four(tuner), tree_is_cheaper());
}

TEST_P(PluginTuner, IsOffByOneVariable) {
  const World world("a");
  const Variable off("CABLEWAY_TUNER", "off");
  const Rank rank(12);
  const Library library;
  Tuner tuner(library, GetParam());
  EXPECT_EQ(costs_for_four(tuner), tree_is_cheaper());
}

TEST_P(PluginTuner, NeverFails) {
  const World world("a");
  const Rank rank(12);
  const Library library;
  constexpr int kMost = std::numeric_limits<int>::max();
  constexpr std::size_t kMostBytes = std::numeric_limits<std::size_t>::max();
  for (const std::size_t nodes : {std::size_t{0}, std::size_t{1}, std::size_t{4}, kMostBytes}) {
    Tuner tuner(library, GetParam());
    EXPECT_EQ(tuner.init(nodes, nodes), abi::kSuccess);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMostBytes}) {
      Costs costs = tree_is_cheaper();
      EXPECT_EQ(tuner.ask(abi::kFunctionAllReduce, bytes, nullptr, abi::kAlgorithms, abi::kProtocols, nullptr),
                abi::kSuccess);
      EXPECT_EQ(tuner.ask(abi::kFunctionAllReduce, bytes, costs.data(), 0, 0, nullptr), abi::kSuccess);
      EXPECT_EQ(tuner.ask(abi::kFunctionAllReduce, bytes, costs.data(), -1, kMost, nullptr), abi::kSuccess);
      EXPECT_EQ(tuner.ask(static_cast<abi::Function>(kMost), bytes, costs.data(), kMost, 3, nullptr), abi::kSuccess);
      EXPECT_EQ(costs, tree_is_cheaper());
    }
    EXPECT_EQ(tuner.end(), abi::kSuccess);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, PluginTuner, testing::Values(3, 4, 5, 6),
                         [](const auto& version) { return "V" + std::to_string(version.param); });

TEST(PluginTunerTable, LeavesChunksToNccl) {
  const Library library;
  EXPECT_EQ(Tuner(library, 6).v6().getChunkSize, nullptr);
}

// What the env plugin gives to an NCCL of a new process, in this environment: in a child, since a process decides once.
class PluginPreset : public testing::Test {
 protected:
  // The value of each variable, one a line, or (none); with version 1 of the interface, then with version 2.
  static std::string values(const char* name) {
    std::string both;
    for (int version = 1; version <= 2; ++version) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::pipe(ends.data()), 0);
      const pid_t child = ::fork();
      if (child == 0) {
        const std::string value = value_here(version, name);
        const bool is_written = ::write(ends[1], value.data(), value.size()) == static_cast<ssize_t>(value.size());
        ::_exit(is_written ? 0 : 1);
      }
      ::close(ends[1]);
      std::array<char, 4096> text{};
      const ssize_t bytes = ::read(ends[0], text.data(), text.size());
      ::close(ends[0]);
      int status = -1;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
      both += std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))) + "\n";
    }
    return both;
  }
  static std::string twice(const std::string& value) { return value + "\n" + value + "\n"; }

 private:
  static std::string value_here(int version, const char* name) {
    const Library library;
    const char* value = nullptr;
    if (version == 1) {
      const auto& table = library.table<abi::EnvV1>("ncclEnvPlugin_v1");
      if (table.init(2, 28, 9, "") != abi::kSuccess) return "init failed";
      value = table.getEnv(name);
    } else {
      const auto& table = library.table<abi::EnvV2>("ncclEnvPlugin_v2");
      if (table.init(2, 30, 7, "", nullptr) != abi::kSuccess) return "init failed";
      value = table.getEnv(name);
    }
    return value == nullptr ? "(none)" : value;
  }
};

std::string this_library() {
  return std::filesystem::canonical(CABLEWAY_PLUGIN).string();
}

TEST_F(PluginPreset, MakesAJobUseTheNodeThatRunsHere) {
  World world("a");
  world.start("a");
  ::unsetenv("CABLEWAY_PORTS");
  EXPECT_EQ(values("NCCL_NET_PLUGIN"), twice(this_library()));
  EXPECT_EQ(values("NCCL_MIN_NCHANNELS"), twice("4"));
  EXPECT_EQ(values("NCCL_NET"), twice("(none)")) << "the application's config.netName counts";
  EXPECT_EQ(values("NCCL_ALGO"), twice("(none)"));
  {
    const Variable socket("NCCL_NET", "Socket");
    EXPECT_EQ(values("NCCL_NET"), twice("Socket"));
    EXPECT_EQ(values("NCCL_NET_PLUGIN"), twice("(none)"));
  }
  const Variable off("CABLEWAY_PRESET", "off");
  EXPECT_EQ(values("NCCL_NET_PLUGIN"), twice("(none)"));
}

// Every process would start a node, also those of jobs that need no network.
TEST_F(PluginPreset, SetsNothingWhereNoNodeRunsUnlessToldTo) {
  const World world("a");
  EXPECT_EQ(values("NCCL_NET_PLUGIN"), twice("(none)"));
  const Variable on("CABLEWAY_PRESET", "on");
  EXPECT_EQ(values("NCCL_NET_PLUGIN"), twice(this_library())) << "the plugin starts a node";
  EXPECT_EQ(values("NCCL_MIN_NCHANNELS"), twice("4"));
}

// Version 1 has no logger.
TEST_F(PluginPreset, ABadSettingIsReportedByThePlugin) {
  const World world("a");
  const Variable bad("CABLEWAY_PRESET", "perhaps");
  EXPECT_EQ(values("NCCL_NET_PLUGIN"), twice(this_library()));
  EXPECT_EQ(values("NCCL_MIN_NCHANNELS"), twice("(none)"));
  EXPECT_NE(values("PATH"), twice("(none)"));
  EXPECT_EQ(result_of_init(12), abi::kInvalidArgument);
  EXPECT_THAT(warnings(), testing::Contains(testing::HasSubstr("CABLEWAY_PRESET")));
}

}  // namespace
}  // namespace cableway::nccl::test
