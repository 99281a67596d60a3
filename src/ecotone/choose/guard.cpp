#include "ecotone/choose/guard.h"

#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/json_number.h"
#include "ecotone/choose/veto.h"
#include "ecotone/methods/registry.h"

namespace ecotone {

namespace {

/// Whether an option that chooses among words has this one; true of all other options.
bool is_choice_of(const OptionInfo& option, const Json& value) {
  if (option.type != OptionType::choice || !value.is_string()) return true;
  for (int k = 0; k < option.limits.n_choices; ++k)
    if (value == option.limits.choices[static_cast<std::size_t>(k)]) return true;
  return false;
}

/// The method's stage with the options that it shares with another one.
Stage with_shared_options(const Method& plain, const OptionValues& others) {
  Json given = Json::object();
  for (const OptionInfo& option : plain.options)
    if (others.has(option.name) && is_choice_of(option, others.at(option.name)))
      given[option.name] = others.at(option.name);
  return {&plain, complete_options(plain.name, plain.options, given)};
}

/// Whether the stage adapts with its options.
bool adapts_with(const OptionValues& options, const std::string& only_with) {
  const std::size_t equals = only_with.find('=');
  return equals == std::string::npos ||
         option_text(options.at(only_with.substr(0, equals))) == only_with.substr(equals + 1);
}

/// The plain learner of this task.
Stage plain_learner(const PlainForm& plain, const OptionValues& options, Task task) {
  if (task == Task::classify || plain.of_numbers.empty()) return with_shared_options(method(plain.method), options);
  OptionValues scaled = options;
  if (plain.l2_of_numbers != 1) scaled.set("l2", plain.l2_of_numbers * options.at("l2").get<double>());
  return with_shared_options(method(plain.of_numbers), scaled);
}

/// The stage without adapting; none: it is left out.
std::optional<Stage> plain_stage(const Stage& stage, Task task) {
  const std::optional<PlainForm> plain = stage.method->plain_form();
  if (!plain && stage.method->family == Family::adapt)
    option_error("nothing_to_guard", "guard: {} has no plain counterpart to compare it with", stage.method->name);
  if (!plain || !adapts_with(stage.options, plain->only_with)) return stage;
  if (plain->method.empty()) return std::nullopt;
  if (plain->method == stage.method->name) return Stage{stage.method, stage_options(*stage.method, {})};
  return plain_learner(*plain, stage.options, task);
}

const char* loss_words(RowLoss loss) {
  switch (loss) {
    case RowLoss::log_loss:
      return "log loss";
    case RowLoss::brier:
      return "Brier score";
    case RowLoss::squared:
      return "squared error";
    default:
      return "error";
  }
}

/// Reads the entries of an unchecked note.
class NoteReader {
 public:
  NoteReader(const Json& json, const std::string& origin) : json_(json), origin_(origin) {
    if (!json.is_object()) bad("it must be an object");
  }

  [[noreturn]] void bad(const std::string& what) const {
    file_error("bad_model", "{}: note 'guard': {}", origin_, what);
  }

  std::string text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string()) bad(fmt::format("'{}' must be text", key));
    return found->get<std::string>();
  }

  std::optional<double> number(const char* key) const {
    const auto found = json_.find(key);
    if (found != json_.end() && found->is_null()) return std::nullopt;
    if (found == json_.end() || !found->is_number() || !std::isfinite(found->get<double>()))
      bad(fmt::format("'{}' must be a number or null", key));
    return found->get<double>();
  }

  bool has(const char* key) const { return json_.contains(key); }

  Overlap overlap() const {
    const NoteReader inner(json_["overlap"], origin_);
    Overlap result{.auroc = inner.number("auroc")};
    result.ess_raw = inner.number("ess_raw").value_or(0);
    result.rows = inner.count("rows");
    result.cols = inner.count("columns");
    return result;
  }

 private:
  Index count(const char* key) const {
    const std::optional<double> value = number(key);
    if (!value || *value < 0 || *value > 9e15 || *value != std::floor(*value))
      bad(fmt::format("'{}' must be a count", key));
    return static_cast<Index>(*value);
  }

  const Json& json_;
  const std::string& origin_;
};

GuardNote note_of(const Scores& scores, Decision decision) {
  const CandidateScore& plain = scores.candidates[0];
  const CandidateScore& other = scores.candidates[1];
  return {.adapted = decision.chosen == 1,
          .scorer = scores.used,
          .loss = scores.loss,
          .estimate_plain = plain.estimate,
          .estimate_adapted = other.estimate,
          .gain = other.gain,
          .standard_error = other.gain_error,
          .importance_gain = other.importance_gain,
          .overlap = scores.overlap,
          .decided_by = std::string(decision.by),
          .reason = std::move(decision.words),
          .adapted_pipeline = other.pipeline,
          .plain_pipeline = plain.pipeline,
          .error = other.error.empty() ? plain.error : other.error};
}

}  // namespace

Pipeline plain_counterpart(const Pipeline& pipeline, Task task) {
  std::vector<Stage> stages;
  for (const Stage& stage : pipeline.stages())
    if (std::optional<Stage> plain = plain_stage(stage, task)) stages.push_back(std::move(*plain));
  if (stages.empty()) option_error("no_learner", "guard: \"{}\" does not end in a learner", pipeline.text());
  Pipeline plain(std::move(stages));
  if (plain.text() == pipeline.text())
    option_error(
        "nothing_to_guard",
        "guard: \"{}\" has no stage that adapts to a target or matches domains, so there is nothing to decide; compare "
        "other stages with evaluate --protocol adapt --choose auto",
        pipeline.text());
  return plain;
}

Json GuardNote::to_json() const {
  Json json = {{"chosen", adapted ? "adapted" : "plain"},
               {"scorer", scorer_name(scorer)},
               {"loss", loss_name(loss)},
               {"estimate_plain", json_number(estimate_plain)},
               {"estimate_adapted", json_number(estimate_adapted)},
               {"gain", json_number(gain)},
               {"standard_error", json_number(standard_error)},
               {"adapted", adapted_pipeline},
               {"plain", plain_pipeline}};
  if (!decided_by.empty()) json["decided_by"] = decided_by;
  if (!reason.empty()) json["reason"] = reason;
  if (overlap) json["overlap"] = overlap->to_json();
  if (importance_gain) json["importance_gain"] = *importance_gain;
  if (!error.empty()) json["error"] = error;
  return json;
}

GuardNote GuardNote::from_json(const Json& json, const std::string& origin) {
  const NoteReader read(json, origin);
  GuardNote note;
  const std::string chosen = read.text("chosen");
  if (chosen != "adapted" && chosen != "plain") read.bad("'chosen' must be adapted or plain");
  note.adapted = chosen == "adapted";
  try {
    note.scorer = scorer_by_name(read.text("scorer"));
    note.loss = loss_by_name(read.text("loss"));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::option) throw;
    read.bad(error.what());
  }
  if (note.scorer == Scorer::automatic || note.loss == RowLoss::automatic)
    read.bad("the scorer and the loss must be the ones used, not auto");
  note.estimate_plain = read.number("estimate_plain");
  note.estimate_adapted = read.number("estimate_adapted");
  note.gain = read.number("gain");
  note.standard_error = read.number("standard_error");
  if (read.has("importance_gain")) note.importance_gain = read.number("importance_gain");
  if (read.has("decided_by")) note.decided_by = read.text("decided_by");
  if (read.has("reason")) note.reason = read.text("reason");
  if (read.has("overlap")) note.overlap = read.overlap();
  note.adapted_pipeline = read.text("adapted");
  note.plain_pipeline = read.text("plain");
  if (read.has("error")) note.error = read.text("error");
  return note;
}

std::string GuardNote::sentence() const {
  const char* chosen = adapted ? "adapted" : "plain";
  const char* other = adapted ? "plain" : "adapted";
  if ((!estimate_plain || !estimate_adapted) && !error.empty())
    return fmt::format("{}, because the {} pipeline could not be scored ({})", chosen, other, error);
  if (!estimate_plain || !estimate_adapted)
    return fmt::format("{}, because {}", chosen, reason.empty() ? "nothing could be estimated" : reason);
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.3g}", *value) : std::string("unknown");
  };
  const std::string near =
      importance_gain ? fmt::format("; {} near the target's rows", text(importance_gain)) : std::string();
  return fmt::format("{}, estimated {} {} against {} {} (by {}: gain {}, standard error {}{}){}", chosen,
                     loss_words(loss), text(adapted ? estimate_adapted : estimate_plain),
                     text(adapted ? estimate_plain : estimate_adapted), other, scorer_name(scorer), text(gain),
                     text(standard_error), near, decided_by.empty() ? "" : fmt::format("; decided by {}", decided_by));
}

std::optional<GuardNote> guard_note(const Model& model, const std::string& origin) {
  const auto found = model.notes().find("guard");
  if (found == model.notes().end()) return std::nullopt;
  return GuardNote::from_json(*found, origin);
}

Guarded guarded_fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const ScorerOptions& options,
                    const Context& context) {
  const std::vector<Pipeline> candidates = {plain_counterpart(pipeline, view.y.task), pipeline};
  if (!view.has_target())
    data_error("no_target",
               "guard: there are no unlabelled rows of a target domain to adapt to; name it with --target");
  const Scores scores = score_candidates(view, schema, candidates, Scorer::automatic, options, context);
  const Decision decision = decide(scores);
  GuardNote note = note_of(scores, decision);
  return {Model::fit(candidates[decision.chosen], view, schema, context).with_note("guard", note.to_json()),
          std::move(note)};
}

}  // namespace ecotone
