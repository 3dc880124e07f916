#include "tools/cableway/expectation/difference.h"

namespace cableway::cli {

std::string_view name_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNodeMissing:
      return "node_missing";
    case DifferenceKind::kNodeExtra:
      return "node_extra";
    case DifferenceKind::kNodeNamed:
      return "node_named";
    case DifferenceKind::kCablesSwapped:
      return "cables_swapped";
    case DifferenceKind::kCableElsewhere:
      return "cable_elsewhere";
    case DifferenceKind::kCableMissing:
      return "cable_missing";
    case DifferenceKind::kCableExtra:
      return "cable_extra";
    case DifferenceKind::kFunctionsDiffer:
      return "functions_differ";
  }
  return "";
}

std::string_view label_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNodeMissing:
      return "missing node";
    case DifferenceKind::kNodeExtra:
      return "extra node";
    case DifferenceKind::kNodeNamed:
      return "other name";
    case DifferenceKind::kCablesSwapped:
      return "swapped";
    case DifferenceKind::kCableElsewhere:
      return "wrong plug";
    case DifferenceKind::kCableMissing:
      return "missing";
    case DifferenceKind::kCableExtra:
      return "extra";
    case DifferenceKind::kFunctionsDiffer:
      return "functions";
  }
  return "";
}

}  // namespace cableway::cli
