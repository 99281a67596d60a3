#include "ecotone/label/label_store.h"

#include <sqlite3.h>

#include <array>
#include <mutex>
#include <set>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

constexpr std::array answer_names{std::string_view("label"), std::string_view("unsure"), std::string_view("skip"),
                                  std::string_view("undo")};
constexpr int application = 0x45434f4c;  // marks the file as a journal of labels
constexpr int format = 1;

constexpr const char* tables =
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, page TEXT NOT NULL, "
    "request TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, row INTEGER NOT NULL, label TEXT NOT NULL, why TEXT NOT NULL, "
    "probability REAL NOT NULL, belief TEXT NOT NULL, model_labels INTEGER NOT NULL, undoes INTEGER NOT NULL);";

constexpr const char* columns =
    "SELECT id, time, page, request, kind, row, label, why, probability, belief, model_labels, undoes FROM events ";

[[noreturn]] void refuse(sqlite3* database, const std::filesystem::path& path) {
  const int code = sqlite3_errcode(database) & 0xff;
  const std::string text = sqlite3_errmsg(database);
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      file_error("journal_in_use", "{} is in use by another ecotone; end that one first", path.string());
    case SQLITE_NOTADB:
      file_error("not_a_journal", "{} is not a journal of labels", path.string());
    case SQLITE_CORRUPT:
      file_error("damaged_journal", "{} is damaged ({}); nothing was changed", path.string(), text);
    case SQLITE_CANTOPEN:
      file_error("cannot_open", "cannot open {}: {}", path.string(), text);
    case SQLITE_FULL:
      file_error("no_space", "cannot write {}: no space left", path.string());
    default:
      file_error("cannot_write", "cannot write {}: {}", path.string(), text);
  }
}

/// A prepared statement. Texts are bound by position, from 1.
class Statement {
 public:
  Statement(sqlite3* database, const std::filesystem::path& path, const char* sql) : database_(database), path_(path) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK) refuse(database, path);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int place, const std::string& text) {
    sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int place, std::int64_t number) {
    sqlite3_bind_int64(statement_, place, number);
    return *this;
  }
  Statement& bind(int place, double number) {
    sqlite3_bind_double(statement_, place, number);
    return *this;
  }
  /// Whether there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) refuse(database_, path_);
    return false;
  }
  std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr ? ""
                            : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3* database_;
  const std::filesystem::path& path_;
  sqlite3_stmt* statement_ = nullptr;
};

AnswerKind kind_of(const std::string& name, const std::filesystem::path& path) {
  for (std::size_t i = 0; i < answer_names.size(); ++i)
    if (answer_names[i] == name) return static_cast<AnswerKind>(i);
  file_error("damaged_journal", "{} holds an event of unknown kind '{}'", path.string(), name);
}

LabelEvent event_of(const Statement& row, const std::filesystem::path& path) {
  LabelEvent event;
  event.id = row.number(0);
  event.time = row.text(1);
  event.page = row.text(2);
  event.request = row.text(3);
  event.kind = kind_of(row.text(4), path);
  event.row = static_cast<Index>(row.number(5));
  event.label = row.text(6);
  if (!read_why(row.text(7), event.why))
    file_error("damaged_journal", "{} holds an event of unknown reason '{}'", path.string(), row.text(7));
  event.probability = row.real(8);
  event.belief = row.text(9);
  event.model_labels = static_cast<Index>(row.number(10));
  event.undoes = row.number(11);
  return event;
}

}  // namespace

std::string_view answer_name(AnswerKind kind) { return answer_names[static_cast<std::size_t>(kind)]; }

struct LabelStore::State {
  sqlite3* database = nullptr;
  std::filesystem::path path;
  mutable std::mutex mutex;

  ~State() { sqlite3_close(database); }

  Statement statement(const char* sql) const { return {database, path, sql}; }

  void run(const char* sql) const {
    if (sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK) refuse(database, path);
  }

  std::int64_t pragma(const char* sql) const {
    Statement asked = statement(sql);
    return asked.step() ? asked.number(0) : 0;
  }

  void open() {
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                        nullptr) != SQLITE_OK)
      refuse(database, path);
    sqlite3_extended_result_codes(database, 1);
    run("PRAGMA locking_mode = EXCLUSIVE");
    const bool fresh = pragma("SELECT count(*) FROM sqlite_master") == 0;
    if (!fresh && pragma("PRAGMA application_id") != application)
      file_error("not_a_journal", "{} is not a journal of labels", path.string());
    if (pragma("PRAGMA user_version") > format)
      file_error("newer_format", "{} was written by a newer ecotone; use that one", path.string());
    // One process at a time; a click is on the disk before it is confirmed.
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE;");
    run(tables);
    run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", application, format).c_str());
  }

  std::optional<std::string> text_of(const char* sql, const std::string& name) const {
    Statement asked = statement(sql);
    asked.bind(1, name);
    return asked.step() ? std::optional(asked.text(0)) : std::nullopt;
  }

  /// Stores the facts of a new journal, compares those of an old one.
  void check(const std::map<std::string, std::string>& facts) const {
    for (const auto& [name, text] : facts) {
      const auto stored = text_of("SELECT text FROM facts WHERE name = ?", name);
      if (!stored) {
        Statement insert = statement("INSERT INTO facts VALUES (?, ?)");
        insert.bind(1, name).bind(2, text).step();
      } else if (*stored != text) {
        file_error("other_data", "{} belongs to other data: its {} is {}, now it is {}; choose another folder with -o",
                   path.string(), name, *stored, text);
      }
    }
  }

  std::optional<LabelEvent> find(const std::string& request) const {
    Statement asked = statement((std::string(columns) + "WHERE request = ?").c_str());
    asked.bind(1, request);
    return asked.step() ? std::optional(event_of(asked, path)) : std::nullopt;
  }
};

LabelStore::LabelStore(std::filesystem::path path, const std::map<std::string, std::string>& facts)
    : path_(std::move(path)), state_(std::make_unique<State>()) {
  state_->path = path_;
  state_->open();
  state_->check(facts);
  state_->run("COMMIT");
}

LabelStore::~LabelStore() = default;

LabelEvent LabelStore::add(LabelEvent event) {
  const std::lock_guard lock(state_->mutex);
  if (const auto stored = state_->find(event.request)) return *stored;
  Statement insert = state_->statement(
      "INSERT INTO events (time, page, request, kind, row, label, why, probability, belief, model_labels, undoes) "
      "VALUES (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, event.page).bind(2, event.request).bind(3, std::string(answer_name(event.kind)));
  insert.bind(4, std::int64_t{event.row}).bind(5, event.label).bind(6, std::string(why_name(event.why)));
  insert.bind(7, event.probability).bind(8, event.belief).bind(9, std::int64_t{event.model_labels});
  insert.bind(10, event.undoes).step();
  const std::optional<LabelEvent> stored = state_->find(event.request);
  if (!stored) internal_error("the journal does not give back what it stored");
  return *stored;
}

std::vector<LabelEvent> LabelStore::events() const {
  const std::lock_guard lock(state_->mutex);
  Statement asked = state_->statement((std::string(columns) + "ORDER BY id").c_str());
  std::vector<LabelEvent> events;
  while (asked.step()) events.push_back(event_of(asked, path_));
  return events;
}

void LabelStore::keep(const std::string& name, const std::string& text) {
  const std::lock_guard lock(state_->mutex);
  state_->run("PRAGMA synchronous = NORMAL");
  const std::shared_ptr<void> afterwards(nullptr, [this](void*) {
    sqlite3_exec(state_->database, "PRAGMA synchronous = FULL", nullptr, nullptr, nullptr);
  });
  Statement insert = state_->statement("INSERT OR REPLACE INTO kept VALUES (?, ?)");
  insert.bind(1, name).bind(2, text).step();
}

std::optional<std::string> LabelStore::kept(const std::string& name) const {
  const std::lock_guard lock(state_->mutex);
  return state_->text_of("SELECT text FROM kept WHERE name = ?", name);
}

std::vector<LabelEvent> standing(const std::vector<LabelEvent>& events) {
  std::set<std::int64_t> undone;
  for (const LabelEvent& event : events)
    if (event.kind == AnswerKind::undo) undone.insert(event.undoes);
  std::vector<LabelEvent> result;
  for (const LabelEvent& event : events)
    if (event.kind != AnswerKind::undo && !undone.contains(event.id)) result.push_back(event);
  return result;
}

}  // namespace ecotone
