#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/json.h"
#include "ecotone/reproduce/figure.h"

/// Experiments of papers: what was done, as data (docs/reproduce.md), and the published numbers beside ours.
namespace ecotone {

/// A number that a paper gives for one row and column of an item.
struct Published {
  std::string item, row, column;
  double value = 0;
  std::optional<double> se;      ///< standard error of the value
  std::optional<double> spread;  ///< standard deviation over repetitions
  std::string from;              ///< where it is printed, or how it was obtained
};

/// A statement that the run checks about a mean of ours, or about its difference from another row's.
struct Claim {
  std::string text;
  std::string row, column;
  std::string minus;                        ///< the other row; empty: none
  std::optional<double> at_most, at_least;  ///< one of them
};

/// One table, figure or example of an experiment.
struct ExperimentItem {
  std::string name;
  std::string sort;  ///< "example", "table", "figure" or "item": the flag that names it
  std::string title;
  std::string kind;  ///< one of experiment_kinds()
  std::string metric;
  int repetitions = 1;
  int trimmed = 0;  ///< number of smallest and of largest values left out of means and spreads
  std::vector<Claim> claims;
  std::vector<std::string> left_out;  ///< what the paper has but this does not, and why
  Json recipe;                        ///< the fields specific to the kind
};

struct Experiment {
  std::string name;   ///< of its folder
  std::string paper;  ///< key of docs/glossary.md
  std::string title;
  std::string source;  ///< where the published numbers are from
  std::vector<ExperimentItem> items;
  std::vector<Published> published;

  /// By name. Option error `unknown_item`, listing the items.
  const ExperimentItem& item(std::string_view item_name, std::string_view sort = {}) const;
};

/// From the texts of experiment.json and published.json. File errors `bad_experiment` name the field: unknown or
/// missing fields, and published numbers or claims about cells that do not exist.
Experiment parse_experiment(const std::string& name, std::string_view recipe, std::string_view published);

/// The folders of experiments/ as they were when the program was built.
struct EmbeddedExperiment {
  std::string_view name;
  std::string_view recipe;
  std::string_view published;
};
std::span<const EmbeddedExperiment> embedded_experiments();
/// By name; an option error (`unknown_experiment`) with a suggestion otherwise.
Experiment experiment(std::string_view name);

/// The measurements of one cell: a value per repetition, in order.
struct Cell {
  std::string row, column;
  std::vector<double> values;
  bool hidden = false;  ///< used in claims but not shown in the table
};

struct ReproduceOptions {
  int repetitions = 0;         ///< 0: as the item says
  std::filesystem::path data;  ///< folder of data files, for kinds that need them
};

/// The row and the column of a cell.
using CellName = std::pair<std::string, std::string>;

/// How an item is run. A new kind is two functions and a line in experiment_kinds(). `check` refuses a recipe that
/// cannot be run, naming the field, and returns its cells; `run` computes them in the order of the table.
struct ExperimentKind {
  std::string_view name;
  bool reads_data;
  bool matrix;  ///< the table has a line per row and a number per column, without published ones
  std::vector<CellName> (*check)(const ExperimentItem& item, const std::string& where);
  std::vector<Cell> (*run)(const ExperimentItem& item, int repetitions, const std::filesystem::path& data,
                           const Context& context);
  /// The pictures of an item, of its first repetition; null: there are none.
  Figures (*draw)(const ExperimentItem& item, const Context& context) = nullptr;
};
std::span<const ExperimentKind> experiment_kinds();

/// One cell of ours beside the published number.
struct ReproducedRow {
  std::string row, column;
  std::optional<double> published, published_spread, published_se;
  std::string from;
  double ours = 0;                   ///< mean over the repetitions that count
  std::optional<double> spread, se;  ///< standard deviation over these repetitions, and that / sqrt(their number)
  Index repetitions = 0;
  std::string verdict;
};

struct ReproducedClaim {
  Claim claim;
  double ours = 0;
  bool holds = false;
};

struct Reproduction {
  std::string paper, item, title, metric, source;
  std::vector<ReproducedRow> rows;
  std::vector<ReproducedClaim> claims;
  std::vector<std::string> left_out;
  int trimmed = 0;
  bool matrix = false;  ///< layout of its table
};

/// The rule behind all verdicts, in one sentence.
std::string_view verdict_rule();

/// |ours - published| <= 2 sqrt(se_published^2 + se_ours^2): agrees, else differs; a standard error that the paper does
/// not give counts as 0. Without a published number, or with one repetition, the verdict says so.
std::string verdict(const ReproducedRow& row);

/// Runs an item; every repetition has its own seed, derived from the context's. A note says if there are fewer than 30
/// repetitions and fewer than the item has. Option errors: `idle_flag` if data are given to a kind that reads none,
/// `too_few_repetitions` if trimming leaves no repetition.
Reproduction reproduce(const Experiment& experiment, const ExperimentItem& item, const ReproduceOptions& options,
                       const Context& context);

/// The pictures of an item. Option error `idle_flag` when it has none.
Figures draw_figures(const Experiment& experiment, const ExperimentItem& item, const Context& context);

}  // namespace ecotone
