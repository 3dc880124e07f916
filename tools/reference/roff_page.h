// A manual page in the language of man(7), from texts that need no escapes of their own.
#ifndef CABLEWAY_TOOLS_REFERENCE_ROFF_PAGE_H_
#define CABLEWAY_TOOLS_REFERENCE_ROFF_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cableway::reference {

// A stretch of text in one font.
struct Span {
  enum class Font { kPlain, kBold, kItalic };

  std::string text;
  Font font = Font::kPlain;
};
using Spans = std::vector<Span>;

inline Span plain(std::string text) {
  return {std::move(text), Span::Font::kPlain};
}
inline Span bold(std::string text) {
  return {std::move(text), Span::Font::kBold};
}
inline Span italic(std::string text) {
  return {std::move(text), Span::Font::kItalic};
}

struct PageTitle {
  std::string name;
  int section;          // 1: commands, 5: files, 7: descriptions, 8: daemons
  std::string version;  // of the program; a page has no date, so that builds are reproducible
  std::string summary;  // one line, for apropos(1)
};

// Builds one page from top to bottom. In each text a line end counts as a space, and a tab as a space at which no line
// is broken.
class RoffPage {
 public:
  // Begins the page with its section NAME.
  explicit RoffPage(const PageTitle& title);

  void section(std::string_view name);  // in upper case
  void subsection(std::string_view name);
  void paragraph(const Spans& text);
  void indented_paragraph(const Spans& text);  // continues the text of tagged()
  // What a list explains: the tag on a line, its text below it and indented.
  void tagged(const Spans& tag, const Spans& text);
  void bullet(const Spans& text);
  // Commands, or a part of a file, a line each. Lines that are too long for 80 columns are broken such that they mean
  // the same: a comment gets a line of its own, a command continues after a backslash.
  void literal(const std::vector<std::string>& lines);

  const std::string& text() const { return text_; }
  // What other pages call it: "cableway.toml(5)".
  const std::string& reference() const { return reference_; }
  // Its file, below the folder share: "man/man5/cableway.toml.5".
  const std::string& path() const { return path_; }

 private:
  void line(const std::string& roff);
  void spans(const Spans& spans);

  const std::string reference_;
  const std::string path_;
  std::string text_;
  bool after_heading_ = false;
};

// In the page's source, a plain hyphen may be shown as a typographic one, and a minus sign stays what it is.
enum class Hyphens {
  kMinuses,  // names, options, code
  kByWord,   // prose: minus signs in words such as "--json", "-1" or "share/man", hyphens in "set-up"
};

// `text` as it stands in the source of a page, but for what would be a request at the start of a line.
std::string roff_escaped(std::string_view text, Hyphens hyphens);

}  // namespace cableway::reference

#endif  // CABLEWAY_TOOLS_REFERENCE_ROFF_PAGE_H_
