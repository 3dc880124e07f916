// Documents on their way to the neighbours that asked for them with a set-up for a view. Each has a time limit,
// as the neighbour may not read.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_CIRCUIT_DOCUMENT_ANSWERS_H_
#define CABLEWAY_CORE_CIRCUIT_DOCUMENT_ANSWERS_H_

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
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

  // Answers the set-up, until `deadline`, and closes its connection. `held` is given back then: when the neighbour,
  // which closes a connection that it has read, has done so. At most kMaxDocumentBytes.
  void send(ArrivedSetup setup, absl::string_view document, HeldPlaces::Place held, Instant deadline) {
    ArrivedSetup::Documented answer = std::move(setup).with_document(document);
    const auto place = sending_.insert(sending_.end(), {std::move(held), std::move(answer.connection), nullptr});
    place->limit = clock_.call_at(deadline, [this, place] { end(place); });
    place->connection->send(std::move(answer.bytes), [this, place](const absl::Status& ended) {
      if (!ended.ok()) return end(place);
      // The operating system has the document, and would keep it for a neighbour that never reads.
      place->connection->read(1, [this, place](const absl::Status&, std::span<const std::byte>) { end(place); });
    });
  }
  std::size_t size() const { return sending_.size(); }

 private:
  struct Sending {
    HeldPlaces::Place held;
    std::unique_ptr<SetupConnection> connection;
    std::unique_ptr<Timer> limit;
  };

  // Nothing of the document is left in the operating system, whatever the neighbour has read.
  void end(std::list<Sending>::iterator place) {
    place->connection->abandon();
    sending_.erase(place);
  }

  Clock& clock_;
  std::list<Sending> sending_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CIRCUIT_DOCUMENT_ANSWERS_H_
