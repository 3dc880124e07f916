// cableway_reference DOCS OUT: writes the manual pages and shell completions to the folder OUT, as they are installed
// below share. DOCS is the folder of the documents. Run by the build.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tools/reference/reference_files.h"

namespace cableway::reference {
namespace {

absl::StatusOr<std::string> read_document(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return absl::NotFoundError(absl::StrCat(path.string(), " cannot be read: ", std::strerror(errno)));
  return text;
}

absl::Status write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? absl::OkStatus()
              : absl::UnavailableError(absl::StrCat(path.string(), " cannot be written: ", std::strerror(errno)));
}

absl::Status write_reference(const std::filesystem::path& docs, const std::filesystem::path& out) {
  std::vector<std::string> texts;
  for (const char* name : {"cli.md", "settings.md", "findings.md"}) {
    absl::StatusOr<std::string> text = read_document(docs / name);
    if (!text.ok()) return text.status();
    texts.push_back(*std::move(text));
  }
  const absl::StatusOr<std::vector<ReferenceFile>> files =
      reference_files({parse_markdown(texts[0]), parse_markdown(texts[1]), parse_markdown(texts[2])});
  if (!files.ok()) return files.status();
  for (const ReferenceFile& file : *files) {
    if (absl::Status status = write_file(out / file.path, file.text); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cableway::reference

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: cableway_reference DOCS OUT\n";
    return 2;
  }
  const absl::Status status = cableway::reference::write_reference(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::cerr << "cableway_reference: " << std::string(status.message()) << "\n";
  return 1;
}
