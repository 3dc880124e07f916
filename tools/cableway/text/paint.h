// Colour of words in text for people: severities and states. Off unless a terminal shows it.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_PAINT_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_PAINT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cableway::cli {

class Paint {
 public:
  enum class Tone { kGood, kNotice, kWarning, kError };

  explicit Paint(bool on = false) : on_(on) {}

  // The word between two sequences of ECMA-48, or as it is where this is off.
  std::string operator()(Tone tone, std::string_view word) const;
  // In the colour of a severity: "error", "warning", "info"; others as they are.
  std::string severity(std::string_view name, std::string_view word) const;
  // Of a neighbour, or of a cable: "up" is good, all else needs attention.
  std::string state(std::string_view word) const { return (*this)(word == "up" ? Tone::kGood : Tone::kWarning, word); }

 private:
  bool on_;
};

// The text without the sequences that Paint adds.
std::string unpainted(std::string_view text);
// How many columns a terminal needs for it: a byte each of unpainted().
std::size_t shown_width(std::string_view text);

// `--color`, else the environment's NO_COLOR (https://no-color.org) and TERM, else whether a terminal shows it.
bool has_colour(std::string_view choice, const char* const* environment, bool on_terminal);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_PAINT_H_
