// The bytes of the page's files, which cmake/embed_files.cmake puts into a source.
#ifndef CABLEWAY_CORE_PAGE_PAGE_FILES_H_
#define CABLEWAY_CORE_PAGE_PAGE_FILES_H_

#include <string_view>

namespace cableway {

// page.html, page.css, and page.js with the drawing of its map.
std::string_view page_html();
std::string_view page_css();
std::string_view page_js();
std::string_view map_js();

}  // namespace cableway

#endif  // CABLEWAY_CORE_PAGE_PAGE_FILES_H_
