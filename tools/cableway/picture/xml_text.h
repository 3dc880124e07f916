// Text escaped for XML and HTML, for elements and for attributes in double quotes.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_XML_TEXT_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_XML_TEXT_H_

#include <string>

namespace cableway::cli {

// Special characters are escaped. What XML cannot represent (control characters, bytes that are not UTF-8) becomes a
// question mark.
std::string xml_text(const std::string& text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_XML_TEXT_H_
