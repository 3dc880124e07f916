#include "core/circuit/document_answers.h"

#include <chrono>

namespace cableway {

void DocumentAnswers::send(ArrivedSetup setup, absl::string_view document, HeldPlaces::Place held) {
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

}  // namespace cableway
