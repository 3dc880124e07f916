// A temporary folder for one test, removed with this object.
#ifndef CABLEWAY_TESTS_CORE_LINUX_TEMPORARY_FOLDER_H_
#define CABLEWAY_TESTS_CORE_LINUX_TEMPORARY_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cableway::host::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cableway_test.XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ / name; }

  // Writes a file and returns its path.
  std::string file(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path(name)) << text;
    EXPECT_EQ(::chmod(path(name).c_str(), mode), 0);
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace cableway::host::test

#endif  // CABLEWAY_TESTS_CORE_LINUX_TEMPORARY_FOLDER_H_
