#include "tools/cableway/up/plan_parts.h"

#include "absl/strings/str_cat.h"

namespace cableway::cli {

PlanPart address_part(const PlannedInterface& port) {
  return {absl::StrCat("address ", port.address, " of ", port.interface), port.interface, port.address};
}

PlanPart mtu_part(const std::string& interface) {
  return {absl::StrCat("MTU of ", interface), interface, ""};
}

PlanPart state_part(const std::string& interface) {
  return {absl::StrCat("state of ", interface), interface, ""};
}

PlanPart file_part(const std::string& path) {
  return {path, "", ""};
}

PlanPart unit_part() {
  return {"unit of addresses", "", ""};
}

}  // namespace cableway::cli
