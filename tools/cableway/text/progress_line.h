// A progress line on a terminal, for long operations.
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

  // Prints nothing unless `shown`, and nothing before `patience` has passed. `out` outlives this.
  ProgressLine(std::ostream& out, bool shown, std::chrono::milliseconds patience,
               Now now = std::chrono::steady_clock::now);
  // Erases the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Cheap to call often: writes at most five lines a second. `share` is 0 to 1.
  void show(double share, const std::string& what);

 private:
  std::ostream& out_;
  const bool shown_;
  const Now now_;
  const std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point next_;
  std::size_t width_ = 0;  // of the line shown now
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_PROGRESS_LINE_H_
