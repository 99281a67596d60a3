#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "ecotone/methods/categories.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/pipeline_text.h"
#include "ecotone/methods/registry.h"
#include "ecotone/version.h"

namespace ecotone {

/// The contents of a model file, on which upgrades work.
struct ModelContents {
  std::string origin;
  std::map<std::string, std::string> meta;
  std::map<std::string, StageState::Array> arrays;  ///< by "STAGE.NAME"

  [[noreturn]] void bad(const std::string& what) const { file_error("bad_model", "{}: {}", origin, what); }
  const std::string& text(const std::string& key) const {
    const auto found = meta.find(key);
    if (found == meta.end()) bad(fmt::format("'{}' is missing", key));
    return found->second;
  }
};

namespace {

using Contents = ModelContents;

constexpr const char* model_format = "ecotone-model";
constexpr int format_version = 3;

template <class Number>
Number whole_number(const Contents& contents, const std::string& key) {
  const std::string& text = contents.text(key);
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size())
    contents.bad(fmt::format("'{}' must be a whole number", key));
  return number;
}

int checked_format(const Contents& contents) {
  if (!contents.meta.contains("format")) contents.bad("this is not an ecotone model");
  if (contents.text("format") != model_format)
    contents.bad(fmt::format("this is not an ecotone model, it holds '{}'", contents.text("format")));
  const int found = whole_number<int>(contents, "format_version");
  if (found < 1) contents.bad(fmt::format("format {} does not exist", found));
  if (found > format_version) {
    file_error("newer_format", "{}: written in model format {}, this program reads up to {}; use a newer ecotone",
               contents.origin, found, format_version);
  }
  return found;
}

/// Nesting depth of brackets in JSON text, ignoring those inside strings.
int nesting(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

/// JSON of a metadata key. Ours is shallow, so deep nesting, which would use up stack later, is refused.
Json parsed(const Contents& contents, const std::string& key) {
  const std::string& text = contents.text(key);
  if (nesting(text) > 8) contents.bad(fmt::format("'{}' is nested too deeply", key));
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    contents.bad(fmt::format("'{}' is not JSON ({})", key, error.what()));
  }
}

/// Format 2 spells the route of components as svm and gp do.
void spell_low_rank(Contents& contents) {
  Json stages = parsed(contents, "stages");
  for (Json& stage : stages)
    for (const auto& route : {Json::json_pointer("/options/route"), Json::json_pointer("/info/route")})
      if (stage.contains(route) && stage.at(route) == "lowrank") stage.at(route) = "low_rank";
  contents.meta["stages"] = stages.dump();
}

/// Format 3 has the sets of categories of trees in bytes, not in halves of words.
void pack_level_sets(Contents& contents) {
  for (auto& [name, array] : contents.arrays) {
    if (!name.ends_with("level_set") || array.shape.size() != 1) continue;
    std::vector<double> bytes;
    for (const double half : array.values) {
      if (!(half >= 0 && half < 4294967296.0) || half != std::trunc(half))
        contents.bad(fmt::format("array '{}' must hold whole numbers of 32 bits, not {}", name, half));
      for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<double>(static_cast<std::uint32_t>(half) >> shift & 0xffU));
    }
    array = {{std::ssize(bytes)}, std::move(bytes), DType::u8};
  }
}

/// upgrades[k] turns the contents of format k + 1 into those of format k + 2.
using Upgrade = void (*)(Contents&);
constexpr std::array<Upgrade, format_version - 1> upgrades{spell_low_rank, pack_level_sets};

/// Brings contents of an older format into today's.
void upgrade(Contents& contents) {
  for (auto k = static_cast<std::size_t>(checked_format(contents)) - 1; k < upgrades.size(); ++k) upgrades[k](contents);
}

Contents contents_of(const TensorFile& file) {
  Contents contents{file.origin(), file.metadata(), {}};
  checked_format(contents);
  for (const std::string& name : file.names()) {
    const std::vector<Index> shape = file.tensor(name).shape;
    if (shape.empty() || shape.size() > 2)
      contents.bad(fmt::format("array '{}' has {} dimensions", name, shape.size()));
    contents.arrays[name] = {shape, file.numbers(name, std::vector<Index>(shape.size(), -1))};
  }
  return contents;
}

/// What as_state made.
Contents contents_of(const StageState& state, const std::string& origin) {
  Contents contents{origin, {}, state.arrays()};
  for (const auto& [key, text] : state.info.items()) {
    if (!text.is_string()) contents.bad(fmt::format("'{}' must be text", key));
    contents.meta[key] = text.get<std::string>();
  }
  return contents;
}

const Json& member(const Contents& contents, const Json& object, const char* key, Json::value_t type) {
  const auto found = object.find(key);
  if (found == object.end() || found->type() != type) contents.bad(fmt::format("a stage has no valid '{}'", key));
  return *found;
}

/// A list of distinct strings.
std::vector<std::string> names(const Contents& contents, const std::string& key) {
  const Json list = parsed(contents, key);
  if (!list.is_array()) contents.bad(fmt::format("'{}' must be a list", key));
  std::vector<std::string> names;
  for (const Json& item : list) {
    if (!item.is_string()) contents.bad(fmt::format("'{}' must be a list of strings", key));
    names.push_back(item.get<std::string>());
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    contents.bad(fmt::format("'{}' has duplicates", key));
  return names;
}

Task read_task(const Contents& contents) {
  for (const Task task : {Task::classify, Task::regress}) {
    if (contents.text("task") == task_name(task)) return task;
  }
  contents.bad(fmt::format("unknown task '{}'", contents.text("task")));
}

/// Whether the stages are those of the text. Options that the text leaves out may have had another default when the
/// file was written.
bool matches(const std::string& text, const std::vector<Stage>& stages) {
  const std::vector<StageGiven> given = read_pipeline_text(text, Braces::refuse);
  if (given.size() != stages.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].method != stages[i].method) return false;
    OptionTexts texts;
    for (const OptionGiven& option : given[i].options) texts.emplace_back(option.name, option.values.front());
    const OptionValues values = complete_options(given[i].method->name, given[i].method->options, texts);
    for (const OptionGiven& option : given[i].options)
      if (values.at(option.name) != stages[i].options.at(option.name)) return false;
  }
  return true;
}

/// The stages with their options, which must match the pipeline's text.
Pipeline read_pipeline(const Contents& contents, const Json& stages) {
  try {
    std::vector<Stage> result;
    for (const Json& stage : stages) {
      if (!stage.is_object()) contents.bad("a stage must be an object");
      const Method& found = method(member(contents, stage, "stage", Json::value_t::string).get<std::string>());
      const Json& options = member(contents, stage, "options", Json::value_t::object);
      result.push_back({&found, complete_options(found.name, found.options, options)});
    }
    if (!matches(contents.text("pipeline"), result))
      contents.bad(fmt::format("the pipeline '{}' does not match its stages", contents.text("pipeline")));
    return Pipeline(std::move(result));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::option) throw;
    contents.bad(error.what());
  }
}

Status read_status(const Contents& contents, const Json& stage) {
  const Json& status = member(contents, stage, "status", Json::value_t::object);
  return {member(contents, status, "converged", Json::value_t::boolean).get<bool>(),
          member(contents, status, "text", Json::value_t::string).get<std::string>()};
}

/// Moves the arrays of one stage out of the contents.
StageState take_state(Contents& contents, const Json& stage, std::size_t index) {
  StageState state;
  state.info = member(contents, stage, "info", Json::value_t::object);
  const std::string prefix = fmt::format("{}.", index);
  auto it = contents.arrays.lower_bound(prefix);
  while (it != contents.arrays.end() && it->first.starts_with(prefix)) {
    state.set(it->first.substr(prefix.size()), std::move(it->second));
    it = contents.arrays.erase(it);
  }
  return state;
}

bool same(const StageState& a, const StageState& b) {
  const auto equal = [](const auto& left, const auto& right) {
    return left.first == right.first && left.second.shape == right.second.shape &&
           left.second.values == right.second.values;
  };
  return a.info == b.info &&
         std::equal(a.arrays().begin(), a.arrays().end(), b.arrays().begin(), b.arrays().end(), equal);
}

/// Loads a stage from its state. Saving it again must give the same state, which shows that all of it was understood.
std::shared_ptr<const Fitted> load_stage(const Contents& contents, const Stage& stage, const StageState& state,
                                         const StageInput& input) {
  const std::string who = fmt::format("stage '{}'", stage.method->name);
  try {
    std::shared_ptr<const Fitted> fitted = stage.method->load(state, stage.options, input);
    if (!same(fitted->save(), state)) contents.bad(fmt::format("{} has unknown or inconsistent content", who));
    return fitted;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal || std::string_view(error.what()).starts_with(contents.origin)) throw;
    contents.bad(fmt::format("{}: {}", who, error.what()));
  }
}

/// JSON text of metadata; names that are not UTF-8 cannot be written.
std::string dumped(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::exception& error) {
    data_error("bad_encoding", "model: a name of a column, class or domain is not UTF-8 text ({})", error.what());
  }
}

/// Whether a value holds a non-finite number anywhere, which JSON cannot express.
bool has_non_finite(const Json& value) {
  if (value.is_number_float()) return !std::isfinite(value.get<double>());
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_non_finite);
}

/// The state of a fitted stage, checked to be finite.
StageState checked_state(const Fitted& fitted, const std::string& who) {
  StageState state = fitted.save();
  for (const auto& [name, array] : state.arrays()) {
    for (const double value : array.values) {
      if (!std::isfinite(value)) internal_error("{}: '{}' holds {}", who, name, value);
    }
  }
  for (const auto& [name, value] : state.info.items()) {
    if (has_non_finite(value)) internal_error("{}: '{}' is not finite", who, name);
  }
  return state;
}

/// A model that no verb can read must not be written, so each stage is loaded from its state first.
void require_readable(const Stage& stage, const StageState& state, const StageInput& input) {
  const auto unreadable = [&](const std::string& why) {
    internal_error("{}: the fitted model cannot be read back, so it is not written: {}", stage.method->name, why);
  };
  try {
    if (same(stage.method->load(state, stage.options, input)->save(), state)) return;
  } catch (const Error& error) {
    unreadable(error.what());
  }
  unreadable("it has inconsistent content");
}

/// Whether a note may have this name: lower-case letters and _, other than inspect's own entries.
bool is_note_name(std::string_view name) {
  constexpr std::array<std::string_view, 10> taken = {"format",  "format_version", "version", "pipeline", "task",
                                                      "classes", "features",       "domains", "seed",     "stages"};
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), plain) && std::ranges::find(taken, name) == taken.end();
}

/// Notes are optional.
Json read_notes(const Contents& contents) {
  if (!contents.meta.contains("notes")) return Json::object();
  Json notes = parsed(contents, "notes");
  if (!notes.is_object()) contents.bad("'notes' must be an object");
  for (const auto& [name, note] : notes.items()) {
    if (!is_note_name(name)) contents.bad(fmt::format("a note cannot be called '{}'", name));
    if (!note.is_object()) contents.bad(fmt::format("the note '{}' must be an object", name));
  }
  return notes;
}

Json array_json(const StageState::Array& array) {
  if (array.shape.size() == 1) return array.values;
  Json rows = Json::array();
  const auto cols = static_cast<std::size_t>(array.shape[1]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.shape[0]); ++i) {
    const double* row = array.values.data() + i * cols;
    rows.push_back(std::vector<double>(row, row + cols));
  }
  return rows;
}

}  // namespace

Json Model::inspect() const {
  Json stages = Json::array();
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    const Stage& stage = pipeline_.stages()[i];
    const StageState state = checked_state(*fitted_[i], stage.method->name);
    Json item = {{"stage", stage.method->name}, {"options", stage.options.to_json()}};
    for (const auto& [name, array] : state.arrays()) item[name] = array_json(array);
    for (const auto& [name, value] : state.info.items()) item[name] = value;
    item["converged"] = statuses_[i].converged;
    item["status"] = statuses_[i].text;
    if (const Index rows = training_rows(i); rows > 0) item["training_rows"] = rows;
    stages.push_back(std::move(item));
  }
  Json json = {{"format", model_format},
               {"format_version", format_version},
               {"version", version_.empty() ? version : version_},
               {"pipeline", pipeline_.text()},
               {"task", task_name(task_)},
               {"classes", classes_},
               {"features", features_},
               {"domains", domains_},
               {"seed", seed_}};
  for (const auto& [name, note] : notes_.items()) json[name] = note;
  json["stages"] = std::move(stages);
  return json;
}

Model Model::with_note(const std::string& name, Json note) const {
  if (!is_note_name(name) || !note.is_object() || has_non_finite(note))
    internal_error("'{}' is not a valid note", name);
  Model model = *this;
  model.notes_[name] = std::move(note);
  return model;
}

StageState Model::as_state() const {
  StageState all;
  Json stages = Json::array();
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    const Stage& stage = pipeline_.stages()[i];
    const StageState state = checked_state(*fitted_[i], stage.method->name);
    for (const auto& [name, array] : state.arrays()) all.set(fmt::format("{}.{}", i, name), array);
    stages.push_back({{"stage", stage.method->name},
                      {"options", stage.options.to_json()},
                      {"info", state.info},
                      {"status", {{"converged", statuses_[i].converged}, {"text", statuses_[i].text}}}});
  }
  all.info = {{"format", model_format},
              {"format_version", fmt::to_string(format_version)},
              {"version", version_.empty() ? version : version_},
              {"pipeline", pipeline_.text()},
              {"task", task_name(task_)},
              {"schema", dumped(schema_.to_json())},
              {"classes", dumped(classes_)},
              {"domains", dumped(domains_)},
              {"seed", fmt::to_string(seed_)},
              {"stages", dumped(stages)}};
  if (!notes_.empty()) all.info["notes"] = dumped(notes_);
  return all;
}

TensorWriter Model::to_tensors() const {
  const StageState state = as_state();
  TensorWriter writer;
  for (const auto& [name, array] : state.arrays()) writer.add(name, array.values, array.shape, array.type);
  for (const auto& [key, text] : state.info.items()) writer.set_meta(key, text.get<std::string>());
  return writer;
}

std::string Model::bytes() const { return to_tensors().bytes(); }

void Model::save(const std::filesystem::path& path) const {
  StageInput input{first_stage_cols(pipeline_, schema_), task_, classes_};
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    const Stage& stage = pipeline_.stages()[i];
    if (stage.method->follows_learner()) input.cols = score_columns(classes_.size());
    require_readable(stage, checked_state(*fitted_[i], stage.method->name), input);
    input.cols = fitted_[i]->output_cols(input.cols);
  }
  to_tensors().write(path);
}

Model Model::load(const std::filesystem::path& path) { return from_tensors(TensorFile::read(path)); }

Model Model::from_tensors(const TensorFile& file) { return from_contents(contents_of(file)); }

Model Model::from_state(const StageState& state, const std::string& origin) {
  return from_contents(contents_of(state, origin));
}

Model Model::from_contents(ModelContents contents) {
  upgrade(contents);
  const Json stages = parsed(contents, "stages");
  if (!stages.is_array()) contents.bad("'stages' must be a list");
  Model model(read_pipeline(contents, stages), Schema::from_json(parsed(contents, "schema"), contents.origin));
  model.task_ = read_task(contents);
  model.classes_ = names(contents, "classes");
  if (model.task_ == Task::regress && !model.classes_.empty()) contents.bad("a regression has no classes");
  model.features_ = model.schema_.feature_names();
  if (model.features_.empty()) contents.bad("there are no features");
  if (model.schema_.has_codes() && !model.pipeline_.takes_categories() &&
      model.pipeline_.stages().front().method->reads_features)
    contents.bad("columns of codes stand before a stage that would take them for numbers");
  model.domains_ = names(contents, "domains");
  model.seed_ = whole_number<std::uint64_t>(contents, "seed");
  model.version_ = contents.text("version");
  model.notes_ = read_notes(contents);
  StageInput input{first_stage_cols(model.pipeline_, model.schema_), model.task_, model.classes_};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageState state = take_state(contents, stages[i], i);
    const Method& stage = *model.pipeline_.stages()[i].method;
    if (stage.regression_only() && model.task_ != Task::regress)
      contents.bad(fmt::format("{} is for regression, but the task is classification", stage.name));
    if (stage.follows_learner()) input.cols = score_columns(model.classes_.size());
    model.fitted_.push_back(load_stage(contents, model.pipeline_.stages()[i], state, input));
    model.statuses_.push_back(read_status(contents, stages[i]));
    input.cols = model.fitted_.back()->output_cols(input.cols);
  }
  if (!contents.arrays.empty()) contents.bad(fmt::format("unknown array '{}'", contents.arrays.begin()->first));
  return model;
}

}  // namespace ecotone
