// Documents on their way to the neighbours that asked for them with a set-up for a view. Each has a time limit, as it
// may be larger than what a connection takes at once, and the neighbour may not read.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_DOCUMENT_ANSWERS_H_
#define CABLEWAY_CORE_CIRCUIT_DOCUMENT_ANSWERS_H_

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/circuit/hop_reception.h"
#include "core/clock.h"
#include "core/neighbour_shares.h"

namespace cableway {

class DocumentAnswers {
 public:
  // The clock must outlive it.
  explicit DocumentAnswers(Clock& clock) : clock_(clock) {}
  // Closes the connections that are left.
  ~DocumentAnswers() = default;
  DocumentAnswers(const DocumentAnswers&) = delete;
  DocumentAnswers& operator=(const DocumentAnswers&) = delete;

  // Answers the set-up, within its budget, and closes its connection. `held` is given back then. At most
  // kMaxDocumentBytes.
  void send(ArrivedSetup setup, absl::string_view document, HeldPlaces::Place held) {
    const std::chrono::milliseconds budget(setup.setup().budget_ms);
    ArrivedSetup::Documented answer = std::move(setup).with_document(document);
    const auto place = sending_.insert(sending_.end(), {std::move(held), std::move(answer.connection), nullptr});
    place->limit = clock_.call_after(budget, [this, place] {
      place->connection->abandon();
      sending_.erase(place);
    });
    place->connection->send(std::move(answer.bytes),
                            [this, place](const absl::Status& /*ended*/) { sending_.erase(place); });
  }
  std::size_t size() const { return sending_.size(); }

 private:
  struct Sending {
    HeldPlaces::Place held;
    std::unique_ptr<SetupConnection> connection;
    std::unique_ptr<Timer> limit;
  };

  Clock& clock_;
  std::list<Sending> sending_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_DOCUMENT_ANSWERS_H_
