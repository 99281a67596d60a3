#include "ecotone/reproduce/kinds/choice.h"

#include <algorithm>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/choose/choose.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/grid.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr std::string_view none = "no adaptation";

struct ChoiceData {
  std::string name;
  std::string metric;
  std::vector<std::string> candidates;
  RecipeData from;

  Task task() const { return find_metric(metric)->task; }
};

std::vector<ChoiceData> read_choice_recipe(const ExperimentItem& item, const std::string& where) {
  std::vector<ChoiceData> all;
  JsonFields fields(item.recipe, where);
  for (const Json& json : fields.list("data")) {
    JsonFields one(json, where + ", a data set");
    ChoiceData& data = all.emplace_back();
    data.name = one.text("data");
    data.metric = one.text("metric");
    if (find_metric(data.metric) == nullptr)
      file_error("bad_experiment", "{}: field 'metric' of data '{}' is not a metric: '{}'", where, data.name,
                 data.metric);
    data.candidates = one.texts("candidates");
    data.from = RecipeData::read(one, data.task());
    one.finish();
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (all[i].name == data.name) file_error("bad_experiment", "{}: two data sets are called '{}'", where, data.name);
  }
  fields.finish();
  return all;
}

std::vector<Pipeline> candidates_of(const ChoiceData& data) {
  std::vector<Pipeline> pipelines;
  for (const std::string& text : data.candidates)
    for (Pipeline& each : expand_grid(text)) pipelines.push_back(std::move(each));
  return pipelines;
}

std::string column(const ChoiceData& data, std::string_view what) { return fmt::format("{} {}", data.name, what); }

std::vector<CellName> check_choice(const ExperimentItem& item, const std::string& where) {
  std::vector<CellName> cells;
  for (const ChoiceData& data : read_choice_recipe(item, where)) {
    try {
      data.from.check();
      for (const Pipeline& pipeline : candidates_of(data))
        if (!pipeline.predicts()) option_error("no_learner", "\"{}\" does not end in a learner", pipeline.text());
    } catch (const Error& error) {
      file_error("bad_experiment", "{}: {}", where, error.what());
    }
    for (const Scorer scorer : scorers_of(data.task()))
      for (const char* what : {"regret", "gain", "rank"})
        cells.emplace_back(std::string(scorer_name(scorer)), column(data, what));
    cells.emplace_back(std::string(none), column(data, "regret"));
  }
  return cells;
}

/// Values of the targets for one field; undefined ones are left out.
class Cells {
 public:
  void add(const std::string& row, const std::string& column, const std::optional<double>& value) {
    const auto found = std::ranges::find_if(cells_, [&](const Cell& c) { return c.row == row && c.column == column; });
    Cell& cell = found == cells_.end() ? cells_.emplace_back(Cell{row, column, {}}) : *found;
    if (value) cell.values.push_back(*value);
  }

  std::vector<Cell> defined() && {
    std::erase_if(cells_, [](const Cell& cell) { return cell.values.empty(); });
    return std::move(cells_);
  }

 private:
  std::vector<Cell> cells_;
};

/// What one repetition gives for the cells; undefined values included.
using ChoiceValues = std::vector<std::pair<CellName, std::optional<double>>>;

ChoiceValues values_of(const ChoiceData& data, const Choice& choice) {
  ChoiceValues values;
  const auto add = [&](std::string row, std::string_view what, const std::optional<double>& value) {
    values.emplace_back(CellName{std::move(row), column(data, what)}, value);
  };
  const bool higher = find_metric(choice.metric)->higher_is_better();
  for (const ScorerChoice& scorer : choice.scorers) {
    const std::string row(scorer_name(scorer.scorer));
    for (const TargetChoice& target : scorer.targets) {
      add(row, "regret", target.regret);
      add(row, "gain", target.gain);
      add(row, "rank", target.rank_correlation);
    }
  }
  for (const TargetTruth& target : choice.targets) {
    if (!target.best || !target.score.front()) continue;
    const double lost = *target.score[*target.best] - *target.score.front();
    add(std::string(none), "regret", higher ? lost : -lost);
  }
  return values;
}

/// One data set is in memory at a time; its fits run in parallel.
std::vector<Cell> run_choice(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const std::vector<ChoiceData> all = read_choice_recipe(item, item.name);
  std::vector<RepeatedPart> parts;
  for (const ChoiceData& data : all) {
    parts.push_back({data.name});
    if (options.journal) parts.back().data = data.from.digest(options.data, context);
  }
  const auto run = [&](std::size_t d, const Context& own) {
    const ChooseOptions choose{.scorers = scorers_of(all[d].task()), .metric = all[d].metric};
    return values_of(all[d],
                     choose_candidates(all[d].from.load(options.data, own), candidates_of(all[d]), choose, own));
  };
  Cells cells;
  for (const ChoiceValues& values : run_repetitions<ChoiceValues>(item, parts, options, 1, context, run))
    for (const auto& [name, value] : values) cells.add(name.first, name.second, value);
  return std::move(cells).defined();
}

}  // namespace

ExperimentKind choice_kind() {
  return {.name = "choice", .reads_data = true, .matrix = true, .check = check_choice, .run = run_choice};
}

}  // namespace ecotone
