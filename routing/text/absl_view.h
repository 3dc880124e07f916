// Converts a std::string_view for abseil: absl::string_view is a distinct type where abseil was built as C++14, as
// Debian's is.
#ifndef CABLEWAY_ROUTING_TEXT_ABSL_VIEW_H_
#define CABLEWAY_ROUTING_TEXT_ABSL_VIEW_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace cableway::routing {

inline absl::string_view absl_view(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TEXT_ABSL_VIEW_H_
