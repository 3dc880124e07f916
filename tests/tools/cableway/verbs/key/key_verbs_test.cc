// `cableway key new`, `copy` and `show`, from arguments to files. `copy` runs the words for ssh in a shell here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/crypto/key_ring.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/key/key_copy.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

namespace fs = std::filesystem;

const std::string kA(64, 'a');
const std::string kB(64, 'b');
const std::string kC(64, 'c');

class KeyVerbsTest : public ::testing::Test {
 protected:
  KeyVerbsTest() : folder_(fs::temp_directory_path() / ("key_verbs." + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~KeyVerbsTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  mode_t mode_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }

  // The names of all that is in the folder.
  std::size_t entries_in(const std::string& name) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_ / name), fs::directory_iterator()));
  }

  // A program in place of ssh: its last argument is read by a shell, as sshd has it done. Its first lines are `before`.
  std::string fake_ssh(const std::string& before = "") const {
    return write("ssh",
                 "#!/bin/sh\nprintf '%s\\n' \"$@\" >> " + path("ssh.log") + "\n" + before +
                     "\nfor last; do :; done\nexec sh -c \"$last\"\n",
                 0700);
  }

  Outcome copy(const std::string& from, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"key",   "copy",     "--file", from, "--to", path("there/key"),
                                          "--ssh", path("ssh")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("gpu1");
    return run_command(arguments);
  }

  const fs::path folder_;
};

std::string fingerprint_of(const std::string& key) {
  return KeyRing::parse(key)->fingerprints().front();
}

TEST_F(KeyVerbsTest, NewMakesAKeyThatOthersCannotRead) {
  const Outcome made = run_command({"key", "new", "--file", path("etc/key")});
  ASSERT_EQ(made.exit_status, 0) << made.err;
  const std::string text = read("etc/key");
  EXPECT_THAT(text, MatchesRegex("[0-9a-f]{64}\n"));
  EXPECT_EQ(mode_of("etc/key"), 0600U);
  EXPECT_EQ(entries_in("etc"), 1U);
  EXPECT_EQ(made.out, path("etc/key") + ": " + fingerprint_of(text) + " seals\n");
  EXPECT_THAT(made.out + made.err, Not(HasSubstr(text.substr(0, 16))));
}

TEST_F(KeyVerbsTest, KeysDiffer) {
  ASSERT_EQ(run_command({"key", "new", "--file", path("a")}).exit_status, 0);
  ASSERT_EQ(run_command({"key", "new", "--file", path("b")}).exit_status, 0);
  EXPECT_NE(read("a"), read("b"));
}

TEST_F(KeyVerbsTest, NewRefusesToOverwriteAKey) {
  const std::string file = write("key", kA);
  const Outcome refused = run_command({"key", "new", "--file", file});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("exists"), HasSubstr("--second"), HasSubstr("--replace")));
  EXPECT_EQ(read("key"), kA);
  EXPECT_EQ(run_command({"key", "new", "--file", file, "--replace"}).exit_status, 0);
  EXPECT_THAT(read("key"), MatchesRegex("[0-9a-f]{64}\n"));
  EXPECT_NE(read("key").substr(0, 64), kA);
}

TEST_F(KeyVerbsTest, SecondAddsALine) {
  const std::string file = write("key", kA);  // without a newline at its end
  const Outcome added = run_command({"key", "new", "--file", file, "--second", "--json"});
  ASSERT_EQ(added.exit_status, 0) << added.err;
  EXPECT_THAT(read("key"), MatchesRegex(kA + "\n[0-9a-f]{64}\n"));
  const nlohmann::json keys = nlohmann::json::parse(added.out)["keys"];
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0]["fingerprint"], fingerprint_of(kA));
  EXPECT_TRUE(keys[0]["seals"]);
  EXPECT_FALSE(keys[1]["seals"]);

  const std::string before = read("key");
  const Outcome third = run_command({"key", "new", "--file", file, "--second"});
  EXPECT_EQ(third.exit_status, 1);
  EXPECT_THAT(third.err, HasSubstr("has two keys"));
  EXPECT_EQ(read("key"), before);
}

TEST_F(KeyVerbsTest, SecondNeedsAGoodFile) {
  EXPECT_THAT(run_command({"key", "new", "--file", path("none"), "--second"}).err, HasSubstr("does not exist"));
  EXPECT_THAT(run_command({"key", "new", "--file", write("bad", "abc"), "--second"}).err, HasSubstr("is no key file"));
  EXPECT_THAT(run_command({"key", "new", "--file", write("open", kA, 0644), "--second"}).err, HasSubstr("mode 0644"));
  EXPECT_THAT(run_command({"key", "new", "--file", write("x", kA), "--second", "--replace"}).exit_status, 2);
}

TEST_F(KeyVerbsTest, CopyRefusesAFolderThereThatOthersCanWrite) {
  fake_ssh();
  const std::string from = write("key", kA);
  fs::create_directories(folder_ / "there");
  for (const mode_t mode : {0775, 0757}) {
    ::chmod(path("there").c_str(), mode);
    const Outcome refused = copy(from);
    EXPECT_EQ(refused.exit_status, 1);
    EXPECT_THAT(refused.out, HasSubstr("there can be written by other users than root"));
    EXPECT_EQ(entries_in("there"), 0U);
  }
  ::chmod(path("there").c_str(), 01777);  // as /tmp
  EXPECT_EQ(copy(from).exit_status, 0);
  // The first folder that is there, where others are missing.
  ::chmod(path("there").c_str(), 0777);
  const Outcome below =
      run_command({"key", "copy", "--file", from, "--to", path("there/new/key"), "--ssh", path("ssh"), "gpu1"});
  EXPECT_EQ(below.exit_status, 1);
  EXPECT_THAT(below.out, HasSubstr("there can be written by other users"));
  EXPECT_FALSE(fs::exists(folder_ / "there/new"));
}

TEST_F(KeyVerbsTest, NewFollowsNoLinkAndNoFolderOfOthers) {
  const std::string target = write("target", "text");
  fs::create_symlink(target, path("link"));
  EXPECT_THAT(run_command({"key", "new", "--file", path("link"), "--replace"}).err, HasSubstr("is a link"));
  EXPECT_EQ(read("target"), "text");
  fs::create_directories(path("open"));
  ::chmod(path("open").c_str(), 0777);
  EXPECT_THAT(run_command({"key", "new", "--file", path("open/key")}).err, HasSubstr("can be written by other users"));
  EXPECT_EQ(entries_in("open"), 0U);
}

TEST_F(KeyVerbsTest, ShowHasFingerprintsOnly) {
  const Outcome shown = run_command({"key", "show", "--file", write("key", kB + "\n" + kA + "\n")});
  EXPECT_EQ(shown.out,
            path("key") + ": " + fingerprint_of(kB) + " seals; " + fingerprint_of(kA) + " is accepted, too\n");
  EXPECT_EQ(run_command({"key", "show", "--file", path("none")}).exit_status, 1);
}

TEST_F(KeyVerbsTest, CopySendsTheKeyThroughStandardInput) {
  fake_ssh();
  const std::string from = write("key", kA + "\n");
  const Outcome copied = copy(from);
  EXPECT_EQ(copied.exit_status, 0) << copied.out << copied.err;
  EXPECT_THAT(copied.out, HasSubstr("gpu1  done"));
  EXPECT_EQ(read("there/key"), kA + "\n");
  EXPECT_EQ(mode_of("there/key"), 0600U);
  EXPECT_EQ(entries_in("there"), 1U);
  EXPECT_THAT(read("ssh.log"), AllOf(HasSubstr("BatchMode=yes\n"), HasSubstr("--\ngpu1\n"), Not(HasSubstr(kA))));
  EXPECT_THAT(copy(from).out, HasSubstr("gpu1  had it already"));
}

TEST_F(KeyVerbsTest, CopyMendsTheMode) {
  fake_ssh();
  write("there/key", kA + "\n", 0644);
  EXPECT_THAT(copy(write("key", kA + "\n")).out, HasSubstr("gpu1  done"));
  EXPECT_EQ(mode_of("there/key"), 0600U);
}

TEST_F(KeyVerbsTest, CopyRefusesAHostWithAnotherKey) {
  fake_ssh();
  write("there/key", kB + "\n");
  const std::string from = write("key", kA + "\n");
  const Outcome refused = copy(from, {"--json"});
  EXPECT_EQ(refused.exit_status, 1);
  const nlohmann::json host = nlohmann::json::parse(refused.out)["hosts"][0];
  EXPECT_EQ(host["state"], "other_key");
  EXPECT_THAT(host["reason"].get<std::string>(), HasSubstr("--replace"));
  EXPECT_EQ(read("there/key"), kB + "\n");
  EXPECT_EQ(copy(from, {"--replace"}).exit_status, 0);
  EXPECT_EQ(read("there/key"), kA + "\n");
}

// Each step of a change of the key, and none that leaves a host out of its neighbours' reach.
TEST_F(KeyVerbsTest, CopyTakesTheStepsOfAChange) {
  fake_ssh();
  const auto replaced = [&](const std::string& there, const std::string& here) {
    write("there/key", there);
    return copy(write("key", here)).exit_status == 0;
  };
  const std::string upper(64, 'A');
  EXPECT_TRUE(replaced(upper + "\r\n", kA + "\n" + kB + "\n"));
  EXPECT_TRUE(replaced(kA + "\n" + kB + "\n", kB + "\n" + kA + "\n"));
  EXPECT_TRUE(replaced(kB + "\n" + kA + "\n", kB + "\n"));
  EXPECT_FALSE(replaced(kA + "\n", kB + "\n" + kA + "\n"));
  EXPECT_FALSE(replaced(kA + "\n" + kB + "\n", kB + "\n"));
  EXPECT_FALSE(replaced(kA + "\n" + kB + "\n", kC + "\n" + kA + "\n"));
  EXPECT_FALSE(replaced("garbage", kA + "\n"));
}

TEST_F(KeyVerbsTest, CopyNamesTheHostThatFailsAndGoesOn) {
  fake_ssh("for host; do [ \"$host\" = gpu1 ] && { echo 'no route to host' >&2; exit 255; }; done");
  const Outcome copied = copy(write("key", kA + "\n"), {"gpu0"});
  EXPECT_EQ(copied.exit_status, 1);
  EXPECT_THAT(copied.out, AllOf(HasSubstr("gpu0  done"), HasSubstr("exit status 255: no route to host")));
}

TEST_F(KeyVerbsTest, CopyOfHalfAKeyChangesNothing) {
  fake_ssh("head -c 20 | { for last; do :; done; sh -c \"$last\"; }; exit");
  write("there/key", kA + "\n");
  const Outcome copied = copy(write("key", kA + "\n" + kB + "\n"));
  EXPECT_EQ(copied.exit_status, 1);
  EXPECT_THAT(copied.out, HasSubstr("arrived incomplete"));
  EXPECT_EQ(read("there/key"), kA + "\n");
  EXPECT_EQ(entries_in("there"), 1U);
}

TEST_F(KeyVerbsTest, CopyWaitsForNoHostForever) {
  fake_ssh("sleep 600");
  const Outcome copied = copy(write("key", kA + "\n"), {"--timeout", "1"});
  EXPECT_EQ(copied.exit_status, 1);
  EXPECT_THAT(copied.out, HasSubstr("no answer within 1 s"));
}

TEST_F(KeyVerbsTest, CopyReplacesNoLink) {
  fake_ssh();
  write("target", kA + "\n");
  fs::create_directories(path("there"));
  fs::create_symlink(path("target"), path("there/key"));
  const Outcome copied = copy(write("key", kB + "\n"), {"--replace"});
  EXPECT_THAT(copied.out, HasSubstr("is a link"));
  EXPECT_EQ(read("target"), kA + "\n");
}

TEST_F(KeyVerbsTest, PathsAreQuotedForTheShell) {
  fake_ssh();
  const std::string there = path("a b'$(touch oops)/key");
  const Outcome copied =
      run_command({"key", "copy", "--file", write("key", kA + "\n"), "--to", there, "--ssh", path("ssh"), "gpu1"});
  EXPECT_EQ(copied.exit_status, 0) << copied.out << copied.err;
  EXPECT_TRUE(fs::exists(there));
}

TEST_F(KeyVerbsTest, HostsAreChecked) {
  const std::string from = write("key", kA + "\n");
  for (const std::string host : {"a b", "a;b", "$(x)", "a\nb"}) {
    const Outcome refused = run_command({"key", "copy", "--file", from, host});
    EXPECT_EQ(refused.exit_status, 1) << host;
    EXPECT_THAT(refused.err, HasSubstr("is no name or address for ssh")) << host;
  }
  EXPECT_FALSE(check_ssh_host("-oProxyCommand=x").ok());
  EXPECT_TRUE(check_ssh_host("user@fe80::1%eth0").ok());
  EXPECT_EQ(run_command({"key", "copy", "--file", from}).exit_status, 2);
}

TEST(KeyCopyScript, GoesThroughSudoWhereAsked) {
  ProgramCall seen;
  const ProgramRunner runner = [&](const ProgramCall& call) {
    seen = call;
    return ProgramEnd{.exit_status = 0, .timed_out = false, .out = "Welcome\ncableway-key: same\n", .err = ""};
  };
  EXPECT_EQ(copy_key("gpu1", kA, {.path = "/etc/cableway/key", .sudo = true}, runner).end, CopyEnd::kHadIt);
  EXPECT_THAT(seen.words.back(), ::testing::StartsWith("sudo -n sh -c '"));
  EXPECT_THAT(seen.words.back(), Not(HasSubstr("\n")));  // for csh
}

}  // namespace
}  // namespace cableway::cli
