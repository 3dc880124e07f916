// The encoding of an offered path in a PathReply.
#ifndef CABLEWAY_CORE_SESSION_PATH_OFFER_CODEC_H_
#define CABLEWAY_CORE_SESSION_PATH_OFFER_CODEC_H_

#include "core/circuit/path_offer.h"
#include "core/wire.h"

namespace cableway {

void put_path_offer(WireWriter& writer, const PathOffer& path);
// A field beyond its bound puts the reader into its error state.
PathOffer get_path_offer(WireReader& reader);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SESSION_PATH_OFFER_CODEC_H_
