// `cableway key new`, `key copy` and `key show`: the secret that the nodes of a cluster share.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_KEY_KEY_VERBS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_KEY_KEY_VERBS_H_

#include <memory>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> key_new_verb();
std::unique_ptr<Verb> key_copy_verb();
std::unique_ptr<Verb> key_show_verb();

// The option --file; `file` is empty without it.
Argument key_file_option(std::string& file);
// `file`, else the setting key_file, else the default place.
std::string chosen_key_file(const std::string& file, const Settings& settings);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_KEY_KEY_VERBS_H_
