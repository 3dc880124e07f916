#include "tests/routing/paths/naive_max_flow.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace cableway::routing {
namespace {

constexpr double kZero = 1e-9;

// Maximises the sum of gain * x over x >= 0 with a * x <= b, for b >= 0: G. B. Dantzig's simplex method, with R. G.
// Bland's rule, which ends.
class LinearProgram {
 public:
  explicit LinearProgram(std::size_t variables) : gain_(variables, 0) {}

  void set_gain(std::size_t variable, double gain) { gain_[variable] = gain; }
  void add(std::vector<double> coefficients, double most) {
    rows_.push_back(std::move(coefficients));
    most_.push_back(most);
  }

  double maximum() {
    const std::size_t variables = gain_.size();
    const std::size_t columns = variables + rows_.size();
    std::vector<std::size_t> basis;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].resize(columns, 0);
      rows_[row][variables + row] = 1;
      basis.push_back(variables + row);
    }
    gain_.resize(columns, 0);
    double found = 0;
    while (true) {
      std::size_t entering = 0;
      while (entering < columns && gain_[entering] <= kZero) ++entering;
      if (entering == columns) return found;
      std::size_t leaving = rows_.size();
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (rows_[row][entering] <= kZero) continue;
        const double limit = most_[row] / rows_[row][entering];
        if (leaving == rows_.size()) {
          leaving = row;
          continue;
        }
        const double least = most_[leaving] / rows_[leaving][entering];
        if (limit < least - kZero || (limit < least + kZero && basis[row] < basis[leaving])) leaving = row;
      }
      basis[leaving] = entering;
      pivot(leaving, entering, found);
    }
  }

 private:
  void pivot(std::size_t leaving, std::size_t entering, double& found) {
    const double pivot = rows_[leaving][entering];
    for (double& each : rows_[leaving]) each /= pivot;
    most_[leaving] /= pivot;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (row == leaving || rows_[row][entering] == 0) continue;
      const double factor = rows_[row][entering];
      for (std::size_t i = 0; i < gain_.size(); ++i) rows_[row][i] -= factor * rows_[leaving][i];
      most_[row] -= factor * most_[leaving];
    }
    const double factor = gain_[entering];
    for (std::size_t i = 0; i < gain_.size(); ++i) gain_[i] -= factor * rows_[leaving][i];
    found += factor * most_[leaving];
  }

  std::vector<double> gain_;
  std::vector<std::vector<double>> rows_;
  std::vector<double> most_;
};

}  // namespace

double naive_max_flow_mbps(const Topology& topology, const PhysicalCables& physical, NodeIndex from, NodeIndex to) {
  const std::size_t variables = 2 * topology.cable_count();  // of each cable: from a, then from b
  LinearProgram program(variables);
  const auto tail = [&](std::size_t i) { return i % 2 == 0 ? topology.cables()[i / 2].a : topology.cables()[i / 2].b; };
  const auto head = [&](std::size_t i) { return i % 2 == 0 ? topology.cables()[i / 2].b : topology.cables()[i / 2].a; };
  const auto limit = [&](const std::function<bool(std::size_t)>& counts, double most) {
    std::vector<double> row(variables, 0);
    for (std::size_t i = 0; i < variables; ++i) row[i] = counts(i) ? 1 : 0;
    program.add(std::move(row), most);
  };
  const auto place_of = [&](std::size_t i) { return physical.place_of_cable[i / 2]; };
  for (std::size_t i = 0; i < variables; ++i) {
    limit([&](std::size_t j) { return j == i; }, static_cast<double>(topology.cables()[i / 2].rate_mbps));
    program.set_gain(i, tail(i).node == from ? 1 : head(i).node == from ? -1 : 0);
  }
  for (std::size_t place = 0; place < physical.cables.size(); ++place) {
    for (const std::size_t way : {0U, 1U}) {
      limit([&](std::size_t j) { return place_of(j) == place && j % 2 == way; },
            static_cast<double>(physical.cables[place].rate_mbps));
    }
  }
  for (std::size_t k = 0; k < physical.connectors.size(); ++k) {
    const SharedConnector& connector = physical.connectors[k];
    const auto is_at = [&](std::size_t j, NodeIndex node) {
      const PhysicalCable& wire = physical.cables[place_of(j)];
      return node == connector.node && (wire.a == node ? wire.shared_at_a : wire.shared_at_b) == k;
    };
    const double most = static_cast<double>(connector.rate_mbps);
    limit([&](std::size_t j) { return is_at(j, tail(j).node); }, most);
    limit([&](std::size_t j) { return is_at(j, head(j).node); }, most);
  }
  for (const SharedRoot& root : physical.roots) {
    const auto is_behind = [&](const Port& port) { return port.node == root.node && port.root == root.name; };
    limit([&](std::size_t j) { return is_behind(tail(j)); }, static_cast<double>(root.rate_mbps));
    limit([&](std::size_t j) { return is_behind(head(j)); }, static_cast<double>(root.rate_mbps));
  }
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    if (NodeIndex{node} == from || NodeIndex{node} == to) continue;
    std::vector<double> row(variables, 0);
    for (std::size_t i = 0; i < variables; ++i) {
      row[i] = tail(i).node.value == node ? 1 : head(i).node.value == node ? -1 : 0;
    }
    program.add(row, 0);
    for (double& each : row) each = -each;
    program.add(row, 0);
  }
  return program.maximum();
}

}  // namespace cableway::routing
