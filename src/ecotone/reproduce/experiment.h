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

/// Experiments of papers: what was done, as data (docs/reproduce.md), and the published numbers beside ours. Numbers of
/// an earlier study of our own are not published ones and go by another name.
namespace ecotone {

class Journal;

/// A number that a paper, or an earlier study of ours, gives for one row and column of an item.
struct Published {
  std::string item;  ///< as in ExperimentItem::is_called
  std::string row, column;
  double value = 0;
  std::optional<double> se;      ///< standard error of the value
  std::optional<double> spread;  ///< standard deviation over repetitions
  std::string from;              ///< where it is printed, or how it was obtained
};

/// What a mean of ours is expected to be near: within two standard errors of both. If it is, but only because our
/// standard error is large, more than twice that of the value, nothing can be told.
struct Nearness {
  double value = 0;
  double se = 0;  ///< of the value
};

/// A statement that the run checks about a mean of ours, or about its difference from another row's.
struct Claim {
  std::string text;
  std::string row, column;
  std::string minus;                        ///< the other row; empty: none
  std::optional<double> at_most, at_least;  ///< one of them,
  std::optional<Nearness> near;             ///< or this
  double errors = 0;                        ///< how many of the row's standard errors may exceed the limit
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
  /// Differences that do not matter, in units of the metric, by row, by column, or (empty name) of all others.
  std::vector<std::pair<std::string, double>> margins;
  std::string processor;           ///< why its numbers depend on the processor; empty: they do not
  std::string same_as;             ///< the item whose recipe it has, seen in another way; empty: its own
  std::vector<std::string> draws;  ///< the figures of the work that its pictures stand for
  bool other_data = false;         ///< it runs on other data than the work, so that numbers get no verdict
  Json recipe;                     ///< the fields specific to the kind

  /// Whether a text means this item: its name, "1", or where several have it "table 1".
  bool is_called(std::string_view text) const;
};

struct Experiment {
  std::string name;   ///< of its folder
  std::string paper;  ///< key of docs/glossary.md
  std::string title;
  std::string source;  ///< where the published numbers are from
  /// The items whose numbers are of an earlier study of ours, not of a paper, and where those are from. In
  /// published.json `true` stands for all items, and `source` is theirs.
  std::vector<std::string> earlier;
  std::string earlier_source;
  std::vector<ExperimentItem> items;
  std::vector<Published> published;
  bool quick = false;  ///< the small version of every item

  bool is_earlier(const ExperimentItem& item) const;

  /// By name; with the sort "figure" also by a figure that it draws. Option errors `unknown_item`, listing the items,
  /// and `ambiguous_item`.
  const ExperimentItem& item(std::string_view item_name, std::string_view sort = {}) const;
};

/// The margin of a cell: that of its row, of its column, or of the item.
std::optional<double> margin_of(const ExperimentItem& item, const std::string& row, const std::string& column);

/// From the texts of experiment.json and published.json. `quick`: with the fields of each item's "quick" in place of
/// its own; claims and numbers of cells that it then lacks are left out. File errors `bad_experiment` name the field:
/// unknown or missing fields, and published numbers or claims about cells that do not exist.
Experiment parse_experiment(const std::string& name, std::string_view recipe, std::string_view published,
                            bool quick = false);

/// The folders of experiments/ as they were when the program was built.
struct EmbeddedExperiment {
  std::string_view name;
  std::string_view recipe;
  std::string_view published;
};
std::span<const EmbeddedExperiment> embedded_experiments();
/// By name; an option error (`unknown_experiment`) with a suggestion otherwise.
Experiment experiment(std::string_view name, bool quick = false);

/// The measurements of one cell: a value per repetition, in order.
struct Cell {
  std::string row, column;
  std::vector<double> values;
  bool hidden = false;  ///< used in claims but not shown in the table
};

struct ReproduceOptions {
  int repetitions = 0;         ///< 0: as the item says
  std::filesystem::path data;  ///< folder of data files, for kinds that need them
  Journal* journal = nullptr;  ///< keeps finished repetitions, and gives them back in the next run; null: none
  bool draw = false;           ///< with the pictures of the item, if it has some
};

/// The row and the column of a cell.
using CellName = std::pair<std::string, std::string>;

/// How an item is run. A new kind is two functions and a line in experiment_kinds(). `check` refuses a recipe that
/// cannot be run, naming the field, and returns its cells; `run` computes them in the order of the table; its
/// options say how many repetitions there are.
struct ExperimentKind {
  std::string_view name;
  bool reads_data;
  bool matrix;  ///< the table has a line per row and a number per column, without published ones
  std::vector<CellName> (*check)(const ExperimentItem& item, const std::string& where);
  std::vector<Cell> (*run)(const ExperimentItem& item, const ReproduceOptions& options, const Context& context);
  /// The pictures of an item, from what its run gave or of its first repetition; null: there are none.
  Figures (*draw)(const ExperimentItem& item, const std::vector<Cell>& cells, const ReproduceOptions& options,
                  const Context& context) = nullptr;
};
std::span<const ExperimentKind> experiment_kinds();

enum class Verdict { none, agrees, differs, cannot_tell };
/// "agrees", "differs", "cannot tell"; empty for none.
std::string_view verdict_name(Verdict verdict);

/// One cell of ours beside the number that it is compared with.
struct ReproducedRow {
  std::string row, column;
  std::optional<double> published, published_spread, published_se;  ///< or of an earlier study
  std::optional<double> margin;                                     ///< the largest difference that counts as none
  std::string from;
  double ours = 0;                   ///< mean over the repetitions that count
  std::optional<double> spread, se;  ///< standard deviation over these repetitions, and that / sqrt(their number)
  Index repetitions = 0;
  Verdict verdict = Verdict::none;
};

struct ReproducedClaim {
  Claim claim;
  double ours = 0;
  std::optional<bool> holds;  ///< empty: nothing can be told, because our own noise is too large
};
/// "holds", "does not hold", "cannot tell".
std::string_view claim_verdict(const ReproducedClaim& claim);

struct Reproduction {
  std::string experiment;  ///< its name
  std::string paper;
  std::string sort, item;  ///< of the item
  std::string title, metric, source;
  std::vector<ReproducedRow> rows;
  std::vector<ReproducedClaim> claims;
  std::vector<std::string> left_out;
  std::string processor;
  bool earlier = false;  ///< the numbers beside ours are of an earlier study
  bool quick = false;    ///< the small version of the item
  int trimmed = 0;
  bool matrix = false;  ///< layout of its table
  Figures figures = {};
};

/// "muandet2013 · table 3"
std::string part_name(const Reproduction& reproduction);

/// "published" or "earlier": the name of the numbers beside ours.
std::string_view reference_name(const Reproduction& reproduction);

/// The rule behind all verdicts, in one sentence.
std::string_view verdict_rule();

/// With d = |ours - published| and n = 2 sqrt(se_published^2 + se_ours^2): agrees if both are at most the margin,
/// differs if d exceeds both the margin and n; otherwise, or with one repetition, nothing can be told. A standard error
/// that is not given counts as 0. None without a number to compare with, or where that is of another problem (a small
/// version, other data).
Verdict verdict(const ReproducedRow& row);

/// How many cells have a number beside them, and their verdicts.
struct VerdictCounts {
  Index cells = 0, agree = 0, differ = 0, cannot_tell = 0;
};
VerdictCounts count_verdicts(const Reproduction& reproduction);

/// Runs an item; every repetition has its own seed, derived from the context's. A note says if there are fewer than 30
/// repetitions and fewer than the item has. Option errors: `idle_flag` if data are given to a kind that reads none, and
/// those of require_repetitions.
Reproduction reproduce(const Experiment& experiment, const ExperimentItem& item, const ReproduceOptions& options,
                       const Context& context);

/// Option error `too_few_repetitions` if trimming leaves no repetition; 0 stands for the item's own number.
void require_repetitions(const Experiment& experiment, const ExperimentItem& item, int repetitions);

/// Whether an item has pictures, and whether it reads files.
bool has_figures(const ExperimentItem& item);
bool reads_data(const ExperimentItem& item);

}  // namespace ecotone
