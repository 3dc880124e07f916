// The node's times, in local time.
#ifndef CABLEWAY_TOOLS_CABLEWAY_TEXT_LOCAL_TIME_H_
#define CABLEWAY_TOOLS_CABLEWAY_TEXT_LOCAL_TIME_H_

#include <string>

namespace cableway::cli {

// "2026-03-01T12:34:56.789Z" as "2026-03-01 13:34:56.789", in this host's time zone (TZ, else /etc/localtime). A text
// of another form is returned as it is.
std::string local_time_text(const std::string& rfc3339);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_TEXT_LOCAL_TIME_H_
