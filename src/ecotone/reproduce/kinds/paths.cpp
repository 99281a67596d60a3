#include "ecotone/reproduce/kinds/paths.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "ecotone/base/error.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/kinds/path_curves.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr const char* path_column = "path";

struct PathPanel {
  std::string name, images;
  std::string positive;  ///< empty: similarity
  PathCentring centring = PathCentring::none;

  std::string title() const {
    return name + (centring == PathCentring::source ? ", centred" : centring == PathCentring::leak ? ", leaking" : "");
  }
  std::string row(std::string_view what) const { return fmt::format("{}, {}", title(), what); }
};

struct PathsRecipe {
  std::vector<PathPanel> panels;  ///< once for every way of centring
  std::map<std::string, std::string> stages;
  Index per_class = 0, pairs = 0, steps = 0;
  std::vector<int> at;
  std::vector<PathRule> rules;
  std::vector<std::string> shown;

  bool both() const { return rules.size() == 2; }
  /// The sets of images in order of first appearance.
  std::vector<std::string> sets() const {
    std::vector<std::string> sets;
    for (const PathPanel& panel : panels)
      if (std::ranges::find(sets, panel.images) == sets.end()) sets.push_back(panel.images);
    return sets;
  }
};

const char* rule_name(PathRule rule) { return rule == PathRule::tgreedy ? "T-greedy" : "greedy"; }

template <class Value>
Value one_of_names(const std::string& text, const std::vector<std::pair<std::string, Value>>& values,
                   const std::string& what, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) {
    if (name == text) return value;
    names.push_back(name);
  }
  file_error("bad_experiment", "{}: field '{}' must be one of {}, got '{}'", where, what, fmt::join(names, ", "), text);
}

void read_panels(PathsRecipe& recipe, JsonFields& fields, const std::vector<PathCentring>& centrings) {
  for (const Json& json : fields.list("panels")) {
    JsonFields panel(json, fields.where() + ", a panel");
    PathPanel read{panel.text("panel"), panel.text("images"), panel.text("class", "")};
    if (std::ranges::find(image_sets(), read.images) == image_sets().end())
      file_error("bad_experiment", "{}: field 'images' must be one of {}, got '{}'", panel.where(),
                 fmt::join(image_sets(), ", "), read.images);
    if (!recipe.stages.contains(read.images))
      file_error("bad_experiment", "{}: field 'stages' has none for '{}'", fields.where(), read.images);
    panel.finish();
    for (const PathCentring centring : centrings) {
      if (centring == PathCentring::leak && read.positive.empty()) continue;
      recipe.panels.push_back(read);
      recipe.panels.back().centring = centring;
    }
  }
}

PathsRecipe read_paths_recipe(const ExperimentItem& item, const std::string& where) {
  if (item.metric != "auroc")
    file_error("bad_experiment", "{}: field 'metric' of kind paths must be auroc, got '{}'", where, item.metric);
  PathsRecipe recipe;
  JsonFields fields(item.recipe, where);
  for (const auto& [images, stages] : fields.named_texts("stages")) recipe.stages[images] = stages;
  recipe.per_class = fields.whole("per_class", 2, 1'000'000);
  recipe.pairs = fields.whole("pairs", 1, 1'000'000);
  recipe.steps = fields.whole("steps", 1, 100'000);
  recipe.at = fields.wholes("at", 1, static_cast<int>(recipe.steps));
  for (const std::string& text : fields.texts("rules"))
    recipe.rules.push_back(
        one_of_names<PathRule>(text, {{"greedy", PathRule::greedy}, {"T-greedy", PathRule::tgreedy}}, "rules", where));
  if (recipe.rules.size() > 2 || (recipe.both() && recipe.rules[0] != PathRule::greedy))
    file_error("bad_experiment", "{}: field 'rules' must be greedy, T-greedy, or both in this order", where);
  std::vector<PathCentring> centrings;
  for (const std::string& text : fields.texts("centring"))
    centrings.push_back(one_of_names<PathCentring>(
        text, {{"none", PathCentring::none}, {"source", PathCentring::source}, {"leak", PathCentring::leak}},
        "centring", where));
  read_panels(recipe, fields, centrings);
  if (fields.has("shown")) recipe.shown = fields.texts("shown");
  fields.finish();
  return recipe;
}

/// What T-greedy's paths of a panel have over greedy's.
struct PathMeasure {
  const char* name;
  double (*of)(const std::vector<PathCurve>& greedy, const std::vector<PathCurve>& tgreedy);
};

double median_t(const std::vector<PathCurve>& curves) {
  constexpr std::size_t first = 1, last = 50;
  std::vector<double> sizes;
  for (const PathCurve& curve : curves)
    for (std::size_t k = first; k < std::min(last, curve.t.size()); ++k) sizes.push_back(std::abs(curve.t[k]));
  if (sizes.empty()) return 0;
  std::ranges::nth_element(sizes, sizes.begin() + std::ssize(sizes) / 2);
  return sizes[sizes.size() / 2];
}

double mean_over(const std::vector<PathCurve>& curves, double PathCurve::*share) {
  double sum = 0;
  for (const PathCurve& curve : curves) sum += curve.*share;
  return sum / static_cast<double>(curves.size());
}

constexpr PathMeasure path_measures[] = {
    {"median |T| of steps 2 to 50, T-greedy's over greedy's",
     [](const auto& greedy, const auto& tgreedy) { return median_t(tgreedy) / median_t(greedy); }},
    {"share of the first 25 steps that the held-out class agrees with, T-greedy's minus greedy's",
     [](const auto& greedy, const auto& tgreedy) {
       return mean_over(tgreedy, &PathCurve::agree) - mean_over(greedy, &PathCurve::agree);
     }},
    {"share of the first 25 steps that lower the held-out class's loss, T-greedy's minus greedy's",
     [](const auto& greedy, const auto& tgreedy) {
       return mean_over(tgreedy, &PathCurve::lower) - mean_over(greedy, &PathCurve::lower);
     }},
};

constexpr std::string_view gap_row = "gap of greedy minus gap of T-greedy";

std::string side_row(const PathPanel& panel, PathRule rule, std::string_view side) {
  return panel.row(fmt::format("{}, {}", rule_name(rule), side));
}

std::vector<CellName> check_paths(const ExperimentItem& item, const std::string& where) {
  const PathsRecipe recipe = read_paths_recipe(item, where);
  try {
    for (const auto& [images, stages] : recipe.stages) (void)Pipeline::parse(stages);
  } catch (const Error& error) {
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  std::vector<CellName> cells;
  for (const PathPanel& panel : recipe.panels) {
    for (const int k : recipe.at) {
      for (const PathRule rule : recipe.rules)
        for (const char* side : {"source", "target"})
          cells.emplace_back(side_row(panel, rule, side), fmt::to_string(k));
      if (recipe.both()) cells.emplace_back(panel.row(gap_row), fmt::to_string(k));
    }
    if (!recipe.both() || panel.positive.empty() || panel.centring != PathCentring::none) continue;
    for (const PathMeasure& measure : path_measures) cells.emplace_back(panel.row(measure.name), path_column);
  }
  return cells;
}

/// Of one repetition: by panel and rule the curves of the classes held out, and those classes.
struct PanelCurves {
  std::vector<std::string> held_out;
  std::vector<std::vector<PathCurve>> rules;
};

template <class Archive>
void archive(Archive& with, PanelCurves& curves) {
  with(curves.held_out, curves.rules);
}

std::vector<PanelCurves> run_set(const PathsRecipe& recipe, const std::string& set, const ImageSet& images,
                                 const Context& context) {
  const ImageSet features = represented(images, recipe.stages.at(set), context.derived("stages", 0));
  std::vector<PanelCurves> all;
  for (const PathPanel& panel : recipe.panels) {
    if (panel.images != set) continue;
    PanelCurves& curves = all.emplace_back();
    curves.held_out = features.train.classes;
    if (panel.positive.empty()) {
      curves.rules = similarity(features, recipe.rules, panel.centring, recipe.pairs, recipe.steps, context);
      continue;
    }
    const auto positive = std::ranges::find(curves.held_out, panel.positive);
    if (positive == curves.held_out.end())
      data_error("unknown_class", "{}: there is no class '{}'", set, panel.positive);
    const Index number = positive - curves.held_out.begin();
    for (const PathRule rule : recipe.rules)
      curves.rules.push_back(one_against_each(features, number, rule, panel.centring, recipe.steps, context));
    curves.held_out.erase(positive);
  }
  return all;
}

double mean_at(const std::vector<PathCurve>& curves, std::vector<double> PathCurve::*side, Index k) {
  double sum = 0;
  for (const PathCurve& curve : curves) sum += (curve.*side)[at(k)];
  return sum / static_cast<double>(curves.size());
}

constexpr std::pair<const char*, std::vector<double> PathCurve::*> path_sides[] = {{"source", &PathCurve::source},
                                                                                   {"target", &PathCurve::target}};

/// All cells of one panel. Those of the steps in between, and of single classes, are hidden: the charts need them.
void add_cells(std::vector<Cell>& cells, const PathsRecipe& recipe, const PathPanel& panel,
               const std::vector<const PanelCurves*>& repetitions) {
  const auto add = [&](const std::string& row, const std::string& column, bool hidden,
                       const std::function<double(const PanelCurves&)>& value) {
    Cell& cell = cells.emplace_back(Cell{row, column, {}, hidden});
    for (const PanelCurves* one : repetitions) cell.values.push_back(value(*one));
  };
  for (Index k = 0; k < recipe.steps; ++k) {
    const bool hidden = std::ranges::find(recipe.at, k + 1) == recipe.at.end();
    const std::string column = fmt::to_string(k + 1);
    for (std::size_t r = 0; r < recipe.rules.size(); ++r)
      for (const auto& [name, side] : path_sides)
        add(side_row(panel, recipe.rules[r], name), column, hidden,
            [&, side = side](const PanelCurves& one) { return mean_at(one.rules[r], side, k); });
    if (recipe.both())
      add(panel.row(gap_row), column, hidden, [&](const PanelCurves& one) {
        const auto gap = [&](const std::vector<PathCurve>& curves) {
          return mean_at(curves, &PathCurve::source, k) - mean_at(curves, &PathCurve::target, k);
        };
        return gap(one.rules[0]) - gap(one.rules[1]);
      });
  }
  if (recipe.both() && !panel.positive.empty() && panel.centring == PathCentring::none)
    for (const PathMeasure& measure : path_measures)
      add(panel.row(measure.name), path_column, false,
          [&](const PanelCurves& one) { return measure.of(one.rules[0], one.rules[1]); });
  for (const std::string& name : recipe.shown) {
    const std::vector<std::string>& classes = repetitions.front()->held_out;
    const auto found = std::ranges::find(classes, name);
    if (found == classes.end()) continue;
    const auto c = static_cast<std::size_t>(found - classes.begin());
    for (std::size_t r = 0; r < recipe.rules.size(); ++r)
      for (Index k = 0; k < recipe.steps; ++k) {
        const std::string of = fmt::format("without {}, {}", name, rule_name(recipe.rules[r]));
        for (const auto& [side_name, side] : path_sides)
          add(panel.row(fmt::format("{}, {}", of, side_name)), fmt::to_string(k + 1), true,
              [&, side = side](const PanelCurves& one) { return (one.rules[r][c].*side)[at(k)]; });
        add(panel.row(of + ", T"), fmt::to_string(k + 1), true, [&](const PanelCurves& one) {
          const std::vector<double>& t = one.rules[r][c].t;
          return at(k) < t.size() ? std::abs(t[at(k)]) : 0.0;
        });
      }
  }
}

std::vector<Cell> run_paths(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const PathsRecipe recipe = read_paths_recipe(item, item.name);
  const std::vector<std::string> sets = recipe.sets();
  std::vector<RepeatedPart> parts;
  std::vector<ImageSet> images;
  for (const std::string& set : sets) {
    images.push_back(read_images(set, recipe.per_class, options.data, context));
    parts.push_back({set});
    if (options.journal) parts.back().data = digest_of(images.back(), context);
  }
  // One at a time: what is inside uses all threads and much memory.
  const auto results = run_repetitions<std::vector<PanelCurves>>(
      item, parts, options, 1, context,
      [&](std::size_t s, const Context& own) { return run_set(recipe, sets[s], images[s], own); });
  const auto repetitions = static_cast<std::size_t>(options.repetitions);
  std::vector<Cell> cells;
  std::map<std::string, std::size_t> seen;  // panels of each set so far
  for (const PathPanel& panel : recipe.panels) {
    const auto set = static_cast<std::size_t>(std::ranges::find(sets, panel.images) - sets.begin());
    const std::size_t place = seen[panel.images]++;
    std::vector<const PanelCurves*> own;
    for (std::size_t r = 0; r < repetitions; ++r) own.push_back(&results[set * repetitions + r][place]);
    add_cells(cells, recipe, panel, own);
  }
  return cells;
}

/// The means of a row over the steps; empty if there is no such row.
std::vector<double> along(const std::map<CellName, const Cell*>& cells, const std::string& row, Index steps) {
  std::vector<double> values;
  for (Index k = 1; k <= steps; ++k) {
    const auto found = cells.find({row, fmt::to_string(k)});
    if (found == cells.end()) return {};
    values.push_back(mean_of(found->second->values).value());
  }
  return values;
}

/// A text as the name of a file.
std::string file_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

Figures draw_paths(const ExperimentItem& item, const std::vector<Cell>& cells, const ReproduceOptions&,
                   const Context&) {
  const PathsRecipe recipe = read_paths_recipe(item, item.name);
  std::map<CellName, const Cell*> by_name;
  for (const Cell& cell : cells) by_name[{cell.row, cell.column}] = &cell;
  Figures figures;
  // Rows are named by the panel, or by it and the class held out, and what follows is the name of the line.
  const auto add = [&](LineChart chart, const std::string& panel, const std::vector<std::string>& rows) {
    chart.name = file_name(chart.title);
    chart.x_title = "features";
    chart.logarithmic = false;
    for (const std::string& row : rows)
      if (auto values = along(by_name, fmt::format("{}, {}", panel, row), recipe.steps); !values.empty())
        chart.lines.push_back({row, std::move(values), row.ends_with("source")});
    if (!chart.lines.empty()) figures.charts.push_back(std::move(chart));
  };
  std::vector<std::string> rows, sizes;
  for (const PathRule rule : recipe.rules) {
    for (const auto& [side, values] : path_sides) rows.push_back(fmt::format("{}, {}", rule_name(rule), side));
    sizes.push_back(fmt::format("{}, T", rule_name(rule)));
  }
  for (const PathPanel& panel : recipe.panels) {
    std::vector<std::string> splits;
    for (const std::string& name : recipe.shown) splits.push_back(panel.row("without " + name));
    for (const std::string& split : splits)
      add({.title = split, .y_title = "AUROC", .bottom = 0.2, .level = 0.5}, split, rows);
    add({.title = panel.title() + ", mean", .y_title = "AUROC", .bottom = 0.2, .level = 0.5}, panel.title(), rows);
    if (!splits.empty())
      add({.title = splits.front() + ", size of T", .y_title = "|T| of the step"}, splits.front(), sizes);
  }
  return figures;
}

}  // namespace

ExperimentKind paths_kind() {
  return {
      .name = "paths", .reads_data = true, .matrix = true, .check = check_paths, .run = run_paths, .draw = draw_paths};
}

}  // namespace ecotone
