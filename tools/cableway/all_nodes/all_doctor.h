// `doctor --all`: what is wrong with the nodes and cables of the cluster, as far as the nodes show it (the view
// `doctor` of core/view/shown_view.h). Nothing is tested. Each cause is one finding, also where both ends of a cable
// report it.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_ALL_DOCTOR_H_
#define CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_ALL_DOCTOR_H_

#include <set>
#include <string>
#include <vector>

#include "core/settings/settings.h"
#include "tools/cableway/all_nodes/node_documents.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/text/look.h"

namespace cableway::cli {

struct ClusterFinding {
  Severity severity = Severity::kOk;
  std::string code;
  std::set<std::string> about;  // "cable n0 eth0 to n1 eth1", "node n2", "node n2 port eth3"
  std::string what;             // as the first of the nodes says
  std::string advice;           // empty: nothing
  std::set<std::string> nodes;  // that report it
};

// The worst first. `documents` loses those that cannot be read; each missing node is a finding.
std::vector<ClusterFinding> examine_all_nodes(NodeDocuments& documents, const Settings& settings);

Severity worst_of_all(const std::vector<ClusterFinding>& findings);

std::string all_doctor_text(const std::vector<ClusterFinding>& findings, const NodeDocuments& documents,
                            const Look& look = {});
// {"schema", "worst", "findings": [{severity, code, about, what, advice, nodes}], "nodes": documents_json()'s}
Json all_doctor_json(const std::vector<ClusterFinding>& findings, const NodeDocuments& documents);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ALL_NODES_ALL_DOCTOR_H_
