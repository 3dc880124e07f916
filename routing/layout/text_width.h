// How wide text is in a picture, before a browser draws it.
#ifndef CABLEWAY_ROUTING_LAYOUT_TEXT_WIDTH_H_
#define CABLEWAY_ROUTING_LAYOUT_TEXT_WIDTH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cableway::routing {

enum class FontWeight { kRegular, kBold };

// In pixels, by the metrics of DejaVu Sans. It is the widest of the fonts that pictures ask for, so text is no wider
// than this. Characters other than printable ASCII count as the widest one.
double text_width(std::string_view text, double pixels, FontWeight weight = FontWeight::kRegular);

// The beginning of `text` and "..", if all of it is wider than `width` pixels.
std::string fitting_text(const std::string& text, double width, double pixels,
                         FontWeight weight = FontWeight::kRegular);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LAYOUT_TEXT_WIDTH_H_
