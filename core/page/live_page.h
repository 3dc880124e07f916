// The page that shows a running node: one HTML document that loads nothing but this node's own /events. Its parts are
// files of this folder, which the build embeds.
#ifndef CABLEWAY_CORE_PAGE_LIVE_PAGE_H_
#define CABLEWAY_CORE_PAGE_LIVE_PAGE_H_

#include <string>

namespace cableway {

struct LivePage {
  std::string html;
  std::string tag;     // for ETag: differs if the page differs
  std::string policy;  // its Content-Security-Policy: only its own script and style, which the policy names by digest
};

LivePage live_page();

}  // namespace cableway

#endif  // CABLEWAY_CORE_PAGE_LIVE_PAGE_H_
