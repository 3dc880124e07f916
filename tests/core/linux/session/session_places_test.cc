// Where nodes listen and clients look for them, with other users of the host about.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/linux/session/local_socket.h"
#include "core/linux/session/session_access.h"
#include "core/linux/session/session_client.h"
#include "core/linux/session/session_dialer.h"
#include "core/linux/session/session_group.h"
#include "core/linux/session/session_listener.h"
#include "core/linux/session/session_names.h"
#include "core/linux/session/session_server.h"
#include "core/linux/session/socket_folder.h"
#include "core/session/session_shares.h"
#include "tests/core/linux/loopback_sockets.h"
#include "tests/core/linux/session/session_test_names.h"

namespace cableway::host {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uid_t kUser = 65531;
constexpr uid_t kOutsider = 65532;
constexpr gid_t kGroup = 65533;
constexpr SessionGroup kRootAlone{};
constexpr SessionGroup kWithGroup{false, kGroup};

// Acts as another user until its end. The process's test needs root.
class As {
 public:
  explicit As(uid_t user, std::vector<gid_t> groups = {}) {
    EXPECT_EQ(::setgroups(groups.size(), groups.data()), 0);
    EXPECT_EQ(::setegid(kOutsider), 0);
    EXPECT_EQ(::seteuid(user), 0);
  }
  ~As() {
    EXPECT_EQ(::seteuid(0), 0);
    EXPECT_EQ(::setegid(0), 0);
    EXPECT_EQ(::setgroups(0, nullptr), 0);
  }
  As(const As&) = delete;
  As& operator=(const As&) = delete;
};

std::string message_of(const absl::Status& status) {
  return std::string(status.message());
}

class SessionPlacesTest : public testing::Test {
 protected:
  SessionPlacesTest() {
    std::string name = "/tmp/session_places.XXXXXX";
    folder_ = ::mkdtemp(name.data());
    ::chmod(folder_.c_str(), 0755);
  }
  ~SessionPlacesTest() override { fs::remove_all(folder_); }

  SessionNames names(uid_t user = ::geteuid()) const { return test::names_of_this_test(folder_, user); }
  std::unique_ptr<SessionServer> start_node(const std::optional<SessionGroup>& shared_with) {
    auto listeners = open_session_listeners(names(), shared_with);
    EXPECT_TRUE(listeners.ok()) << listeners.status();
    held_by_ = listeners->name_held_by;
    return SessionServer::start(io_, std::move(listeners->all), Welcome{"n0", "lab", 17, 1000, {"10.0.0.1"}},
                                [](const SessionPeer&, const SessionMessage&, const SessionServer::Answer&) {});
  }
  // The node's answer to Hello.
  absl::Status greet(const SessionNames& names) {
    auto client = SessionClient::connect(io_, names);
    if (!client.ok()) return client.status();
    absl::Status status = absl::DeadlineExceededError("no answer");
    bool done = false;
    (*client)->request(Hello{kSessionVersion, "test"}, [&](const absl::StatusOr<SessionMessage>& reply) {
      status = reply.status();
      done = true;
    });
    EXPECT_TRUE(test::run_until([&] { return done; },
                                [this] {
                                  io_.restart();
                                  io_.run_one_for(std::chrono::milliseconds(20));
                                }));
    (*client)->close();
    io_.restart();
    io_.poll();
    return status;
  }
  // A process of another user, such as one that wants to stop the node.
  static UniqueFd take_name(uid_t user, const std::string& name, bool listens = true) {
    const As other(user);
    UniqueFd socket = *open_local_socket();
    const auto endpoint = abstract_endpoint(name);
    EXPECT_EQ(::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())), 0);
    EXPECT_EQ(listens ? ::listen(socket.get(), 16) : 0, 0);
    return socket;
  }

  boost::asio::io_context io_;
  std::string folder_;
  std::string held_by_;
};

class SessionPlacesOfUsersTest : public SessionPlacesTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to act as several users";
  }
};

TEST(SessionNames, AreOfAUserAClusterAndANetworkNamespace) {
  Settings settings;
  settings.cluster = "lab";
  settings.runtime_dir = "a/b%";
  const absl::StatusOr<SessionNames> names = session_names(settings);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(names->own, "cableway/" + std::to_string(::geteuid()) + "/lab/a/b%");
  EXPECT_EQ(names->roots, "cableway/0/lab/a/b%");
  struct stat network {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &network), 0);
  const std::string file = "/lab,a%2Fb%25," + std::to_string(network.st_ino);
  EXPECT_EQ(names->shared, "/run/cableway" + file);
  const std::string user = std::to_string(::geteuid());
  EXPECT_THAT(names->standby,
              testing::ElementsAre("/run/user/" + user + "/cableway" + file, "/tmp/cableway-" + user + file));
}

TEST(SessionNames, AreRefusedIfTooLongForASocket) {
  Settings settings;
  settings.cluster = "c";
  settings.runtime_dir = std::string(80, 'd');
  EXPECT_TRUE(session_names(settings).ok());
  settings.cluster = "c12";
  EXPECT_THAT(message_of(session_names(settings).status()),
              AllOf(HasSubstr("CABLEWAY_CLUSTER, CABLEWAY_RUNTIME_DIR and CABLEWAY_SESSION_DIR together are too long"),
                    HasSubstr("has 109 bytes; expected at most 107")));
}

TEST_F(SessionPlacesTest, AStaleSocketIsReplaced) {
  ASSERT_EQ(::mkdir((folder_ + "/s").c_str(), 0700), 0);
  const auto bind_and_close = [](const std::string& path) {
    const UniqueFd socket = *open_local_socket();
    const boost::asio::local::stream_protocol::endpoint endpoint(path);
    ASSERT_EQ(::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())), 0);
  };
  bind_and_close(names().shared);
  bind_and_close(folder_ + "/s/of-a-node-elsewhere");
  EXPECT_TRUE(absl::IsNotFound(dial_node(names()).status()));
  auto node = start_node(kRootAlone);
  EXPECT_TRUE(greet(names()).ok());
  EXPECT_FALSE(fs::exists(folder_ + "/s/of-a-node-elsewhere")) << "no process listens there";
  node.reset();
  EXPECT_FALSE(fs::exists(names().shared)) << "the node has ended";
}

TEST_F(SessionPlacesTest, ASecondNodeIsRefusedAtEachPlace) {
  const auto node = start_node(kRootAlone);
  EXPECT_TRUE(absl::IsAlreadyExists(open_session_listeners(names(), kRootAlone).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(open_session_listeners(names(), std::nullopt).status()));
  const auto folder = LockedSocketFolder::open(folder_ + "/s", 0711);
  ASSERT_TRUE(folder.ok()) << folder.status();
  const std::string file = fs::path(names().shared).filename();
  EXPECT_TRUE(absl::IsAlreadyExists(folder->listen(file, 0600, -1).status()));
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(LockedSocketFolder::open(folder_ + "/s", 0711, std::chrono::milliseconds(10)).status()));
  EXPECT_TRUE(greet(names()).ok());
}

TEST_F(SessionPlacesTest, NothingButASocketIsReplaced) {
  ASSERT_EQ(::mkdir((folder_ + "/s").c_str(), 0700), 0);
  const UniqueFd file(::open(names().shared.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  EXPECT_THAT(message_of(open_session_listeners(names(), kRootAlone).status()), EndsWith("is not a socket; expected a "
                                                                                         "node's session socket"));
  EXPECT_TRUE(fs::exists(names().shared));
}

TEST_F(SessionPlacesTest, NoLinkIsFollowed) {
  auto node = start_node(kRootAlone);
  fs::rename(folder_ + "/s", folder_ + "/elsewhere");
  fs::create_directory_symlink(folder_ + "/elsewhere", folder_ + "/s");
  EXPECT_THAT(message_of(dial_node(names()).status()), EndsWith("/s is a symbolic link; expected a folder"));
  EXPECT_THAT(message_of(LockedSocketFolder::open(folder_ + "/s", 0711).status()),
              EndsWith("/s is a symbolic link; expected a folder"));
  fs::remove(folder_ + "/s");
  fs::create_directory(folder_ + "/s");
  fs::create_symlink(folder_ + "/elsewhere/" + fs::path(names().shared).filename().string(), names().shared);
  EXPECT_THAT(message_of(dial_node(names()).status()), HasSubstr("is not a socket"));
}

TEST_F(SessionPlacesTest, AFolderThatOthersCanWriteIsRefused) {
  const auto node = start_node(kRootAlone);
  ASSERT_EQ(::chmod((folder_ + "/s").c_str(), 0775), 0);
  EXPECT_THAT(message_of(dial_node(names()).status()), HasSubstr("can be written by other users"));
  EXPECT_THAT(message_of(LockedSocketFolder::open(folder_ + "/s", 0711).status()), HasSubstr("chmod go-w"));
}

TEST_F(SessionPlacesTest, AFolderThatCannotBeMadeIsNamed) {
  Settings settings = test::settings_of_this_test("/proc");
  const auto names = session_names(settings, ::geteuid(), {});
  EXPECT_THAT(message_of(open_session_listeners(*names, kRootAlone).status()),
              StartsWith("cannot create folder /proc/s: "));
}

TEST_F(SessionPlacesOfUsersTest, AnotherUserWhoHoldsTheNameStopsNoSystemNode) {
  const UniqueFd squatter = take_name(kOutsider, names().own);
  const auto node = start_node(kWithGroup);
  EXPECT_EQ(held_by_, "user 65532 (process " + std::to_string(::getpid()) + ")");
  EXPECT_TRUE(greet(names()).ok());
}

TEST_F(SessionPlacesOfUsersTest, ANameThatIsHeldWithoutListeningStopsNoSystemNode) {
  const UniqueFd squatter = take_name(kOutsider, names().own, false);
  const auto node = start_node(kWithGroup);
  EXPECT_EQ(held_by_, "a process that accepts no connection");
  EXPECT_TRUE(greet(names()).ok());
}

TEST_F(SessionPlacesOfUsersTest, AUsersNodeListensInAFolderOfItsUserInstead) {
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  const UniqueFd squatter = take_name(kOutsider, names(kUser).own);
  const As user(kUser);
  EXPECT_THAT(message_of(dial_node(names()).status()), HasSubstr("user 65532 (process "));
  auto node = start_node(std::nullopt);
  EXPECT_THAT(held_by_, StartsWith("user 65532"));
  EXPECT_TRUE(greet(names()).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(open_session_listeners(names(), std::nullopt).status()));
}

TEST_F(SessionPlacesOfUsersTest, AUsersNodeNamesWhatKeepsItFromEveryPlace) {
  const UniqueFd squatter = take_name(kOutsider, names(kUser).own);
  ASSERT_EQ(::mkdir((folder_ + "/a65531").c_str(), 0777), 0);
  ASSERT_EQ(::chown((folder_ + "/a65531").c_str(), kOutsider, kOutsider), 0);
  const As user(kUser);
  EXPECT_THAT(message_of(open_session_listeners(names(), std::nullopt).status()),
              AllOf(HasSubstr("user 65532 (process "), HasSubstr("/a65531 belongs to user 65532; expected root or user "
                                                                 "65531")));
}

TEST_F(SessionPlacesOfUsersTest, AClientRefusesASocketOfAnotherUser) {
  ASSERT_EQ(::mkdir((folder_ + "/s").c_str(), 0755), 0);
  ASSERT_EQ(::chown((folder_ + "/s").c_str(), kOutsider, kOutsider), 0);
  EXPECT_THAT(message_of(dial_node(names()).status()),
              AllOf(HasSubstr("belongs to user 65532"), HasSubstr("expected root or user 0")));
  const As user(kUser);
  EXPECT_THAT(message_of(dial_node(names()).status()), HasSubstr("expected root or user 65531"));
}

TEST_F(SessionPlacesOfUsersTest, TheGroupDecidesWhoMayOpenSessions) {
  const auto node = start_node(kWithGroup);
  {
    const As member(kUser, {kGroup});
    EXPECT_TRUE(greet(names()).ok());
  }
  const As outsider(kOutsider);
  const absl::Status refused = greet(names());
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_THAT(message_of(refused), AllOf(HasSubstr("user 65532 may not open sessions with this host's node: root and "
                                                   "group "),
                                         HasSubstr("\nsudo usermod -aG ")));
}

TEST_F(SessionPlacesOfUsersTest, WithoutAGroupOnlyRootMayOpenSessions) {
  const auto node = start_node(kRootAlone);
  EXPECT_TRUE(greet(names()).ok());
  EXPECT_EQ(admitted_text(read_session_access(names().shared)), "only root");
  const As user(kUser, {kGroup});
  EXPECT_THAT(message_of(greet(names())), AllOf(HasSubstr("only root may\n"), HasSubstr("groupadd --system")));
}

TEST_F(SessionPlacesOfUsersTest, EveryUserMayIfTheSettingSaysSo) {
  const auto node = start_node(find_session_group(kEveryUser).value());
  EXPECT_EQ(admitted_text(read_session_access(names().shared)), "every user");
  const As user(kUser);
  EXPECT_TRUE(greet(names()).ok());
}

TEST_F(SessionPlacesOfUsersTest, AUserWhoDoesNotSeeTheSystemNodesSocketStartsNoNode) {
  auto node = start_node(kWithGroup);
  fs::remove(names().shared);
  EXPECT_TRUE(greet(names()).ok()) << "root's abstract name leads root there, as in a container";
  const As user(kUser);
  const absl::Status refused = open_session_listeners(names(), std::nullopt).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(message_of(refused), AllOf(HasSubstr("root's node (process "), HasSubstr("mount the folder")));
}

TEST_F(SessionPlacesOfUsersTest, OneUserCannotTakeAllSessions) {
  const auto node = start_node(kWithGroup);
  std::vector<UniqueFd> taken;
  {
    const As member(kUser, {kGroup});
    for (std::size_t i = 0; i < kMaxSessionsOfUser; ++i) {
      absl::StatusOr<UniqueFd> session = dial_node(names());
      ASSERT_TRUE(session.ok()) << session.status();
      taken.push_back(*std::move(session));
      io_.restart();
      io_.poll();
    }
    EXPECT_THAT(message_of(greet(names())), StartsWith("no session left for user 65531: it has 256"));
  }
  EXPECT_TRUE(greet(names()).ok());
  taken.pop_back();
  io_.restart();
  io_.poll();
  const As member(kUser, {kGroup});
  EXPECT_TRUE(greet(names()).ok());
}

TEST(SessionGroup, IsFoundByNameOrNumber) {
  EXPECT_EQ(find_session_group("root")->group, 0U);
  // Refused in a user namespace that lacks it.
  if (const auto numbered = find_session_group("4242"); numbered.ok()) {
    EXPECT_EQ(numbered->group, 4242U);
  }
  EXPECT_TRUE(find_session_group("*")->everyone);
  EXPECT_THAT(message_of(find_session_group("no-such-group").status()),
              AllOf(HasSubstr("CABLEWAY_SESSION_GROUP is \"no-such-group\""), HasSubstr("groupadd --system")));
  const absl::StatusOr<SessionGroup> unset = find_session_group("");
  ASSERT_TRUE(unset.ok()) << unset.status();
  EXPECT_FALSE(unset->everyone);
  EXPECT_EQ(unset->group.has_value(), find_group(kDefaultSessionGroup)->has_value());
}

}  // namespace
}  // namespace cableway::host
