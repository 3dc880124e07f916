// What `cableway up` has to change on a host.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_UP_CHANGES_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_UP_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cableway/up/change.h"
#include "tools/cableway/up/up_facts.h"

namespace cableway::cli {

struct UpChanges {
  std::vector<Change> changes;       // empty: all is as it should be
  std::vector<std::string> remarks;  // what is left to the user

  friend bool operator==(const UpChanges&, const UpChanges&) = default;
};

// Pure. The key's text, where it is to be written, is wiped with wipe_key(). FailedPrecondition: a setting has another
// value (settings_edit.h), or the host has another key. The order: group, locked memory, kernel's parameters,
// addresses, files of the node, its service.
absl::StatusOr<UpChanges> up_changes(const UpRequest& request, const UpFacts& facts);

void wipe_key(const std::string& key_path, UpChanges& all);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_UP_CHANGES_H_
