// Writes nccl_adapter/algorithm/tree_sizes.h to standard output:
//   build/release/bin/tree_sizes > /tmp/tree_sizes.h; mv /tmp/tree_sizes.h nccl_adapter/algorithm/; tools/style.sh fix
#include <cstdio>
#include <string>

#include "tools/tuner/tree_sizes_model.h"

int main() {
  const auto sizes = cableway::tuner_model::predicted_tree_sizes();
  if (!sizes.ok()) {
    std::fprintf(stderr, "tree_sizes: %s\n", std::string(sizes.status().message()).c_str());
    return 1;
  }
  std::fputs(cableway::tuner_model::header_text(*sizes).c_str(), stdout);
  return 0;
}
