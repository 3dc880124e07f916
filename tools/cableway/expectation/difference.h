// One difference between an expected and a found topology: what is wrong, and how to fix it.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_DIFFERENCE_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_DIFFERENCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cableway::cli {

enum class DifferenceKind : std::uint8_t {
  kNodeMissing,      // an expected node is not there, or has no cable
  kNodeExtra,        // a node that is not expected
  kNodeNamed,        // a node that is not expected has the cables of a missing one: it has another name
  kCablesSwapped,    // two cables of which two ends are exchanged: one swap fixes both
  kCableElsewhere,   // a cable is in another plug than expected
  kCableMissing,     // an expected cable is not there
  kCableExtra,       // a cable that is not expected
  kFunctionsDiffer,  // the right plugs are joined, but not all of their functions, or others with each other
};

// "node_missing", as in JSON.
std::string_view name_of(DifferenceKind kind);
// "missing node", as in tables.
std::string_view label_of(DifferenceKind kind);

struct Difference {
  DifferenceKind kind = DifferenceKind::kCableMissing;
  std::string about = {};                         // "node spark-1", "cable spark-0 - spark-1"
  std::string what = {};                          // what is expected, and what was found
  std::string advice = {};                        // what to do
  std::vector<std::string> nodes = {};            // names, those concerned
  std::vector<std::string> found_cables = {};     // names in the found topology of what is at fault
  std::vector<std::string> expected_cables = {};  // names in the expected topology of what is not there
};

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_DIFFERENCE_H_
