#include "tools/cableway/text/progress_line.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{200};
// Below that share, the remaining time is not estimated.
constexpr double kMinShareForEstimate = 0.02;

}  // namespace

ProgressLine::ProgressLine(std::ostream& out, bool shown, std::chrono::milliseconds patience, Now now)
    : out_(out), shown_(shown), now_(std::move(now)), began_(now_()), next_(began_ + patience) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) out_ << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

void ProgressLine::show(double share, const std::string& what) {
  if (!shown_) return;
  const auto now = now_();
  if (now < next_) return;
  next_ = now + kInterval;
  const double elapsed_s = std::chrono::duration<double>(now - began_).count();
  std::string line = absl::StrFormat("cableway: %s %3.0f %%", what, 100 * share);
  if (share >= kMinShareForEstimate) {
    absl::StrAppend(&line, absl::StrFormat(", about %.0f s to go", elapsed_s * (1 - share) / share));
  }
  const std::size_t width = line.size();
  if (width < width_) line.append(width_ - width, ' ');
  width_ = width;
  out_ << "\r" << line << std::flush;
}

}  // namespace cableway::cli
