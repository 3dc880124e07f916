#include "routing/layout/text_width.h"

#include <array>

namespace cableway::routing {
namespace {

constexpr char kFirstMeasured = ' ';
constexpr std::size_t kCharacters = 95;
constexpr double kUnits = 1000;  // of the size

// Advances from the space to the tilde, as browsers measure them.
constexpr std::array<unsigned short, kCharacters> kRegular = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr std::array<unsigned short, kCharacters> kBold = {
    348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
    696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
    683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
    724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
    343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838};
constexpr unsigned short kWidest = 1103;

}  // namespace

double text_width(std::string_view text, double pixels, FontWeight weight) {
  const auto& advances = weight == FontWeight::kBold ? kBold : kRegular;
  double width = 0;
  for (const char each : text) {
    const auto place = static_cast<std::size_t>(static_cast<unsigned char>(each) - kFirstMeasured);
    width += place < kCharacters ? advances[place] : kWidest;
  }
  return width * pixels / kUnits;
}

std::string fitting_text(const std::string& text, double width, double pixels, FontWeight weight) {
  if (text_width(text, pixels, weight) <= width) return text;
  std::string cut = text;
  while (!cut.empty() && text_width(cut + "..", pixels, weight) > width) cut.pop_back();
  return cut + "..";
}

}  // namespace cableway::routing
