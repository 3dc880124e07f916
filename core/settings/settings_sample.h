// The sample settings file that packages install: every setting with its meaning and its default, in comments.
#ifndef CABLEWAY_CORE_SETTINGS_SETTINGS_SAMPLE_H_
#define CABLEWAY_CORE_SETTINGS_SETTINGS_SAMPLE_H_

#include <string>

namespace cableway {

// A settings file that sets nothing. Each setting is a comment with what it takes and a line "#key = value", which is
// valid without its "#". The value is the default, or an example where the default cannot be written down.
std::string settings_sample();

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_SAMPLE_H_
