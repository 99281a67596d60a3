#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/base/json.h"
#include "ecotone/methods/query/pick.h"

namespace ecotone {

/// What a person said of a row.
enum class AnswerKind { label, unsure, skip, undo };
/// "label", "unsure", "skip", "undo".
std::string_view answer_name(AnswerKind kind);

/// One click. Events are only ever added: an undo is an event that names the one it undoes.
struct LabelEvent {
  std::int64_t id = 0;  ///< given by the store, ascending
  std::string time;     ///< when it was stored, UTC; given by the store
  std::string page;     ///< who answered
  std::string request;  ///< of the click; one that was stored already is not stored again
  AnswerKind kind = AnswerKind::label;
  Index row = 0;      ///< of the files, counted from 0
  std::string label;  ///< of kind label: the class or number as text
  Why why = Why::uncertain;
  double probability = 1;   ///< that the row was asked, given what was asked before
  std::string belief;       ///< what the model believed, if it was shown
  Index model_labels = 0;   ///< labels that the model had learned from which ranked the row
  std::int64_t undoes = 0;  ///< of kind undo: the event
};

/// A journal of labels: an SQLite file, one transaction a click, written through to the disk before a click is
/// confirmed. Thread-safe. File errors: `cannot_open`, `cannot_write`, `not_a_journal`, `journal_in_use`, and
/// `other_data` if it belongs to other data.
class LabelStore {
 public:
  /// Opens a journal or begins one. `facts` say what it belongs to (digest of the data, column of the label, target):
  /// those of an old one must be the same.
  LabelStore(std::filesystem::path path, const std::map<std::string, std::string>& facts);
  ~LabelStore();
  LabelStore(const LabelStore&) = delete;
  LabelStore& operator=(const LabelStore&) = delete;

  /// Stores an event and gives it with id and time; one whose request is stored already is given as it was stored.
  LabelEvent add(LabelEvent event);
  /// All events, in order.
  std::vector<LabelEvent> events() const;

  /// Keeps a small text under a name, such as the curve drawn so far; replaces the last one. It outlives the process,
  /// but a power cut may take it: nobody waits for the disk.
  void keep(const std::string& name, const std::string& text);
  std::optional<std::string> kept(const std::string& name) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  struct State;
  std::filesystem::path path_;
  std::unique_ptr<State> state_;
};

/// The events that still hold: without undos and what they undid.
std::vector<LabelEvent> standing(const std::vector<LabelEvent>& events);

}  // namespace ecotone
