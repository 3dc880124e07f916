// A line on a terminal that says how far something is, for what takes longer than people like to wait in silence.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_PROGRESS_LINE_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_PROGRESS_LINE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

namespace cableway::cli {

class ProgressLine {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  // Says nothing unless `shown`, and nothing before `patience` is over. `out` outlives this.
  ProgressLine(std::ostream& out, bool shown, std::chrono::milliseconds patience,
               Now now = std::chrono::steady_clock::now);
  // Takes the line away.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Cheap where nothing is due: at most five lines a second are written. `share` is 0 to 1.
  void show(double share, const std::string& what);

 private:
  std::ostream& out_;
  const bool shown_;
  const Now now_;
  const std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point next_;
  std::size_t width_ = 0;  // of the line that is there now
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_PROGRESS_LINE_H_
