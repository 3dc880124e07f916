#include "core/linux/node/key_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/virtual_clock.h"
#include "tests/core/event/recorded_events.h"
#include "tests/core/linux/temporary_folder.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kOld(64, 'a');
const std::string kNew(64, 'b');
constexpr char kOldPrint[] = "d4c40378";
constexpr char kNewPrint[] = "6cf32193";

class KeyServiceTest : public testing::Test {
 protected:
  void start() {
    auto service = KeyService::open(write(kOld));
    ASSERT_TRUE(service.ok()) << service.status();
    keys_ = *std::move(service);
    keys_->follow(clock_, events_, [this] { seen_by_others_.push_back(keys_->setup_keys()); });
  }
  std::string write(const std::string& text, mode_t mode = 0600) const { return folder_.file("key", text, mode); }
  // Long enough for two looks.
  void wait() { clock_.run_for(2 * KeyService::kLookEvery); }

  const test::TemporaryFolder folder_;
  sim::VirtualClock clock_;
  cableway::test::RecordedEvents events_;
  std::unique_ptr<KeyService> keys_;
  std::vector<SetupKeys> seen_by_others_;
};

TEST_F(KeyServiceTest, AClusterWithoutAKeyGetsNone) {
  const auto service = KeyService::open("");
  ASSERT_TRUE(service.ok()) << service.status();
  (*service)->follow(clock_, events_, [] {});
  wait();
  EXPECT_TRUE((*service)->setup_keys().empty());
  EXPECT_THAT((*service)->fingerprints(), IsEmpty());
  EXPECT_EQ((*service)->seal().seal({}), NoSeal().seal({}));
}

TEST_F(KeyServiceTest, AFileWithoutAKeyIsAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(KeyService::open(folder_.path("none")).status()));
}

TEST_F(KeyServiceTest, ChangesTheKeyInThreeSteps) {
  start();
  const DatagramSeal& seal = keys_->seal();
  EXPECT_THAT(keys_->fingerprints(), ElementsAre(kOldPrint));
  write(kOld + "\n" + kNew + "\n");
  wait();
  EXPECT_THAT(keys_->fingerprints(), ElementsAre(kOldPrint, kNewPrint));
  EXPECT_EQ(seal.seal({}), KeyedSeal(*KeyRing::parse(kOld)).seal({}));
  write(kNew + "\n" + kOld + "\n");
  wait();
  EXPECT_EQ(seal.seal({}), KeyedSeal(*KeyRing::parse(kNew)).seal({}));
  EXPECT_TRUE(seal.matches({}, KeyedSeal(*KeyRing::parse(kOld)).seal({})));
  write(kNew);
  wait();
  EXPECT_FALSE(seal.matches({}, KeyedSeal(*KeyRing::parse(kOld)).seal({})));
  EXPECT_THAT(events_.codes(), ElementsAre(EventCode::kKeysChanged, EventCode::kKeysChanged, EventCode::kKeysChanged));
  EXPECT_EQ(events_.raised[1].text, "the key file has changed: key 6cf32193 seals, and d4c40378 is accepted, too");
  EXPECT_EQ(cableway::test::field_of(events_.raised[1].fields, "keys"), "6cf32193, d4c40378");
  EXPECT_EQ(events_.raised[2].text, "the key file has changed: key 6cf32193 seals, and no other is accepted");
  EXPECT_EQ(seen_by_others_.size(), 3U);
  EXPECT_EQ(seen_by_others_.back(), KeyRing::parse(kNew)->setup_keys());
}

TEST_F(KeyServiceTest, UsesAFileThatTookTheOldOnesPlace) {
  start();
  folder_.file("key.new", kNew, 0600);
  ASSERT_EQ(::rename(folder_.path("key.new").c_str(), folder_.path("key").c_str()), 0);
  wait();
  EXPECT_THAT(keys_->fingerprints(), ElementsAre(kNewPrint));
}

TEST_F(KeyServiceTest, WaitsUntilAnEditorIsDone) {
  start();
  write(kOld.substr(0, 10));
  clock_.run_for(KeyService::kLookEvery);
  write(kNew);
  clock_.run_for(KeyService::kLookEvery);
  write(kOld + "\n" + kNew);
  clock_.run_for(KeyService::kLookEvery);
  EXPECT_THAT(events_.raised, IsEmpty());
  EXPECT_THAT(keys_->fingerprints(), ElementsAre(kOldPrint));
  clock_.run_for(KeyService::kLookEvery);
  EXPECT_THAT(keys_->fingerprints(), ElementsAre(kOldPrint, kNewPrint));
}

TEST_F(KeyServiceTest, KeepsItsKeysWhileTheFileIsBad) {
  start();
  const std::string path = folder_.path("key");
  const std::vector<std::pair<std::string, std::function<void()>>> faults{
      {"No such file", [&] { ::unlink(path.c_str()); }},
      {"line 1: the key has 4 hex digits", [&] { write("bbbb"); }},
      {"the same key twice", [&] { write(kNew + "\n" + kNew); }},
      {"has mode 0644", [&] { write(kNew, 0644); }}};
  for (const auto& [reason, make] : faults) {
    make();
    wait();
    EXPECT_THAT(keys_->problem(), AllOf(HasSubstr(reason), HasSubstr("keeps its keys"), Not(HasSubstr(kNew))));
    EXPECT_EQ(events_.raised.back().code, EventCode::kKeyUnreadable);
    EXPECT_EQ(events_.raised.back().text, keys_->problem());
  }
  const std::size_t raised = events_.raised.size();
  EXPECT_EQ(raised, faults.size()) << "each is reported once";
  wait();
  EXPECT_EQ(events_.raised.size(), raised);
  EXPECT_THAT(keys_->fingerprints(), ElementsAre(kOldPrint));
  EXPECT_THAT(seen_by_others_, IsEmpty());
  write(kOld);
  wait();
  EXPECT_EQ(keys_->problem(), "");
  ASSERT_EQ(events_.raised.size(), raised + 1) << "the keys are those in use";
  EXPECT_EQ(events_.raised.back().code, EventCode::kKeyValid);
}

}  // namespace
}  // namespace cableway::host
