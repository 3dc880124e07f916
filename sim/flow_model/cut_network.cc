#include "sim/flow_model/cut_network.h"

#include <algorithm>

namespace cableway::sim {

CutNetwork::Arc CutNetwork::add_arc(Vertex from, Vertex to, Capacity capacity, Capacity back) {
  const Arc arc = static_cast<Arc>(to_.size());
  to_.insert(to_.end(), {to, from});
  capacity_.insert(capacity_.end(), {capacity, back});
  following_.insert(following_.end(), {first_[from], first_[to]});
  first_[from] = arc;
  first_[to] = arc + 1;
  return arc;
}

// Finds each vertex's distance from the source in arcs with residual capacity; returns whether the sink is reached.
bool CutNetwork::find_levels(Vertex source, Vertex sink) {
  std::fill(level_.begin(), level_.end(), kUnreached);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Vertex from = queue_[i];
    for (Arc arc = first_[from]; arc != kNone; arc = following_[arc]) {
      if (left_[arc] == 0 || level_[to_[arc]] != kUnreached) continue;
      level_[to_[arc]] = level_[from] + 1;
      queue_.push_back(to_[arc]);
    }
  }
  return level_[sink] != kUnreached;
}

// Pushes along one path after another until there is none on which every arc leads one level further.
CutNetwork::Capacity CutNetwork::push_along_levels(Vertex source, Vertex sink, Capacity most) {
  next_ = first_;
  path_.clear();
  Capacity pushed = 0;
  for (Vertex at = source; pushed < most;) {
    if (at == sink) {
      Capacity amount = most - pushed;
      for (const Arc arc : path_) amount = std::min(amount, left_[arc]);
      std::size_t full = path_.size();
      for (std::size_t i = path_.size(); i-- > 0;) {
        left_[path_[i]] -= amount;
        left_[path_[i] ^ 1U] += amount;
        if (left_[path_[i]] == 0) full = i;
      }
      pushed += amount;
      if (full == path_.size()) break;  // `most` is reached
      at = to_[path_[full] ^ 1U];
      path_.resize(full);
      continue;
    }
    Arc& arc = next_[at];
    while (arc != kNone && (left_[arc] == 0 || level_[to_[arc]] != level_[at] + 1)) arc = following_[arc];
    if (arc != kNone) {
      path_.push_back(arc);
      at = to_[arc];
    } else if (path_.empty()) {
      break;
    } else {
      level_[at] = kUnreached;  // dead end
      at = to_[path_.back() ^ 1U];
      path_.pop_back();
    }
  }
  return pushed;
}

CutNetwork::Capacity CutNetwork::max_flow(Vertex source, Vertex sink, Capacity limit) {
  left_ = capacity_;
  Capacity flow = 0;
  while (flow < limit && find_levels(source, sink)) flow += push_along_levels(source, sink, limit - flow);
  return flow;
}

}  // namespace cableway::sim
