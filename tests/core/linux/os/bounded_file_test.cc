// Which files are opened for reading, and which are refused because opening or reading might never end.
#include "core/linux/os/bounded_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "core/linux/files/topology_reader.h"
#include "tests/core/linux/temporary_folder.h"

namespace cableway::host {
namespace {

using ::testing::HasSubstr;

class BoundedFileTest : public ::testing::Test {
 protected:
  std::string pipe_file(const std::string& name) const {
    EXPECT_EQ(::mkfifo(folder_.path(name).c_str(), 0600), 0);
    return folder_.path(name);
  }
  static std::string error_of(const std::string& path) { return std::string(open_input(path).status().message()); }

  const test::TemporaryFolder folder_;
};

// A pipe of this process, as passed by a shell's <(..).
class InheritedPipe {
 public:
  InheritedPipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~InheritedPipe() {
    ::close(ends_[0]);
    close_writer();
  }
  InheritedPipe(const InheritedPipe&) = delete;
  InheritedPipe& operator=(const InheritedPipe&) = delete;

  void write(const std::string& text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(BoundedFileTest, APipeWithoutAWriterIsRefusedWithoutWaiting) {
  EXPECT_EQ(error_of(pipe_file("p")), "is a pipe; expected a regular file");
  EXPECT_EQ(std::string(read_topology(pipe_file("t.toml")).status().message()),
            "topology file \"" + folder_.path("t.toml") + "\" is a pipe; expected a regular file");
}

TEST_F(BoundedFileTest, DevicesAndFoldersAreRefused) {
  EXPECT_EQ(error_of("/dev/zero"), "is a device; expected a regular file, /dev/stdin or /dev/fd/N");
  EXPECT_EQ(error_of(folder_.path("")), "is a folder; expected a regular file");
  EXPECT_THAT(error_of(folder_.path("nothing")), HasSubstr("cannot be opened: No such file"));
  EXPECT_TRUE(open_file("/dev/null").ok()) << "stands for an empty file";
}

TEST_F(BoundedFileTest, AnInheritedPipeIsReadToItsEnd) {
  InheritedPipe pipe;
  pipe.write("cluster = \"lab\"\n");
  pipe.write("[[node]]\nname = \"a\"\n");
  pipe.close_writer();
  const absl::StatusOr<routing::Topology> topology = read_topology(pipe.path());
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->cluster(), "lab");
}

TEST_F(BoundedFileTest, AnInheritedPipeWithoutAWriterIsEmpty) {
  InheritedPipe pipe;
  pipe.close_writer();
  const absl::StatusOr<UniqueFd> file = open_input(pipe.path());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*read_at_most(*file, 10), "");
}

TEST_F(BoundedFileTest, NoMoreIsReadThanTheLimit) {
  for (const std::size_t size : {0U, 1U, 65536U, 65537U, 200'000U}) {
    const std::string path = folder_.file("text", std::string(size, 'x'));
    for (const std::size_t limit : {1U, 65536U, 65537U, 131'072U, 300'000U}) {
      const absl::StatusOr<UniqueFd> file = open_input(path);
      ASSERT_TRUE(file.ok()) << file.status();
      EXPECT_EQ(read_in_pieces(*file, limit)->size(), std::min(size, limit)) << size << " " << limit;
    }
  }
}

TEST_F(BoundedFileTest, ADescriptorIsFoundByNumberOrName) {
  EXPECT_EQ(inherited_descriptor("/dev/stdin"), 0);
  EXPECT_EQ(inherited_descriptor("/dev/stdout"), 1);
  EXPECT_EQ(inherited_descriptor("/proc/self/fd/7"), 7);
  for (const char* path : {"", "stdin", "/dev/fd/", "/dev/fd/x", "/dev/fd/-1", "/dev/fd/3/x", "/dev/null"}) {
    EXPECT_EQ(inherited_descriptor(path), std::nullopt) << path;
  }
  EXPECT_THAT(error_of("/dev/fd/9999"), HasSubstr("cannot be opened: Bad file descriptor"));
}

}  // namespace
}  // namespace cableway::host
