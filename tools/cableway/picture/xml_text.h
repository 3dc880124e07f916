// Text as it stands in XML and HTML, in elements and in attributes with double quotes.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_XML_TEXT_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_XML_TEXT_H_

#include <string>

namespace cableway::cli {

// Characters that have a meaning there are escaped. What XML has no way to say (control characters, bytes that are not
// UTF-8) becomes a question mark.
std::string xml_text(const std::string& text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_XML_TEXT_H_
