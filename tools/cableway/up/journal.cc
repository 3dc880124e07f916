#include "tools/cableway/up/journal.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/crypto/keyed_mac.h"
#include "routing/text/bounded_json.h"
#include "routing/text/json_schema.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

constexpr mode_t kJournalMode = 0600;

Json file_json(const FileRecord& record) {
  Json view = {{"kind", "file"}, {"path", record.path}, {"before", nullptr}, {"after", record.after}};
  if (record.before)
    view["before"] = {{"base64", absl::Base64Escape(record.before->text)}, {"mode", record.before->mode}};
  view["folders"] = record.folders;
  return view;
}

Json part_json(const PlanPart& part) {
  if (part.name.empty()) return nullptr;
  return {{"name", part.name}, {"interface", part.interface}, {"address", part.address}};
}

Json step_json(const Record& record) {
  if (const auto* file = std::get_if<FileRecord>(&record)) return file_json(*file);
  if (const auto* value = std::get_if<ValueRecord>(&record)) {
    return {{"kind", "value"}, {"path", value->path}, {"before", value->before}, {"after", value->after}};
  }
  return {{"kind", "command"}, {"undo", std::get<CommandRecord>(record).undo}};
}

Json record_json(const Record& record) {
  Json view = step_json(record);
  view["part"] = std::visit([](const auto& each) { return part_json(each.part); }, record);
  return view;
}

using Words = std::vector<std::string>;

FileRecord file_record(const nlohmann::json& view) {
  FileRecord record{view.at("path"), std::nullopt, view.at("after"), view.at("folders").get<Words>()};
  const nlohmann::json& before = view.at("before");
  if (before.is_null()) return record;
  record.before.emplace();
  record.before->mode = before.at("mode").get<mode_t>();
  if (!absl::Base64Unescape(before.at("base64").get<std::string>(), &record.before->text)) {
    throw nlohmann::json::other_error::create(0, "a file is not in base64", nullptr);
  }
  return record;
}

PlanPart part_of(const nlohmann::json& view) {
  const nlohmann::json& part = view.at("part");
  return part.is_null() ? PlanPart{} : PlanPart{part.at("name"), part.at("interface"), part.at("address")};
}

Record step_of(const nlohmann::json& view) {
  const std::string kind = view.at("kind");
  if (kind == "file") return file_record(view);
  if (kind == "value") return ValueRecord{view.at("path"), view.at("before"), view.at("after")};
  return CommandRecord{view.at("undo").get<Words>()};
}

Record record_of(const nlohmann::json& view) {
  Record record = step_of(view);
  std::visit([&](auto& each) { each.part = part_of(view); }, record);
  return record;
}

absl::Status not_a_journal(absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat(kJournalPath, " is no journal of cableway up, which --undo needs: ", why));
}

}  // namespace

std::string text_digest(const std::string& text) {
  // Not secret: it distinguishes contents.
  constexpr std::array<std::byte, 32> kNoKey{};
  const Mac mac = keyed_mac(kNoKey, std::as_bytes(std::span(text)));
  return absl::BytesToHexString({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

std::string journal_text(const Journal& journal) {
  Json view = {{routing::kSchemaMember, routing::kJsonSchema}, {"restart_due", journal.restart_due}};
  view["folders"] = journal.folders;
  view["records"] = Json::array();
  for (const Record& record : journal.records) view["records"].push_back(record_json(record));
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Journal> parse_journal(const std::string& text) {
  constexpr routing::JsonBounds kBounds = {.bytes = kMostHostFileBytes, .depth = 8, .values = 100'000};
  const absl::StatusOr<nlohmann::json> parsed = routing::parse_bounded_json(text, kJournalPath, kBounds, "a journal");
  if (!parsed.ok()) return not_a_journal(parsed.status().message());
  Journal journal;
  try {
    journal.restart_due = parsed->at("restart_due").get<bool>();
    journal.folders = parsed->at("folders").get<Words>();
    for (const nlohmann::json& each : parsed->at("records")) journal.records.push_back(record_of(each));
  } catch (const nlohmann::json::exception& error) {
    return not_a_journal(error.what());
  }
  return journal;
}

absl::StatusOr<Journal> read_journal(const HostRoot& root) {
  const absl::StatusOr<std::optional<HostFile>> file = root.read_own(kJournalPath);
  if (!file.ok()) return file.status();
  return *file ? parse_journal((*file)->text) : Journal{};
}

absl::Status write_journal(const HostRoot& root, const Journal& journal) {
  if (!journal.records.empty()) return root.write(kJournalPath, {journal_text(journal), kJournalMode});
  if (absl::Status status = root.remove(kJournalPath); !status.ok()) return status;
  for (auto folder = journal.folders.rbegin(); folder != journal.folders.rend(); ++folder) {
    root.remove_empty_folder(*folder);
  }
  return absl::OkStatus();
}

}  // namespace cableway::cli
