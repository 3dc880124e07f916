#include "core/page/live_page.h"

#include <sodium.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/page/page_files.h"
#include "routing/text/absl_view.h"

namespace cableway {
namespace {

std::string base64_digest(const std::string& text) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::array<char, sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES, sodium_base64_VARIANT_ORIGINAL)> encoded{};
  sodium_bin2base64(encoded.data(), encoded.size(), digest.data(), digest.size(), sodium_base64_VARIANT_ORIGINAL);
  return encoded.data();
}

}  // namespace

LivePage live_page() {
  const std::string style(page_css());
  const std::string script = absl::StrCat(routing::absl_view(map_js()), routing::absl_view(page_js()));
  LivePage page;
  page.html = absl::StrReplaceAll(routing::absl_view(page_html()), {{"{{style}}", style}, {"{{script}}", script}});
  page.tag = absl::StrCat("\"", base64_digest(page.html), "\"");
  page.policy = absl::StrCat("default-src 'none'; script-src 'sha256-", base64_digest(script), "'; style-src 'sha256-",
                             base64_digest(style),
                             "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                             "frame-ancestors 'none'");
  return page;
}

}  // namespace cableway
