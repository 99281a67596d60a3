#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/select/greedy/greedy.h"
#include "ecotone/methods/select/icp/icp.h"
#include "ecotone/methods/select/step/step.h"

/// What `select` shows: the whole path of a selector, beyond what it keeps as a fitted stage.
namespace ecotone {

/// What a selector is run on: rows or, where there are none, moments.
struct SelectionInput {
  const std::string& who;           ///< the method's name
  const TrainView* view = nullptr;  ///< of the selector, behind the stages before it
  const Refits* refits = nullptr;   ///< of these stages; null: there are none
  const Moments* moments = nullptr;
  bool held_out = true;       ///< also run the path without each domain in turn
  FitCache* cache = nullptr;  ///< of the binary problems, if it is one of several
};

/// A run of tgreedy or greedy.
struct GreedySelection {
  PathRule rule = PathRule::tgreedy;
  GreedyOptions options;
  GreedyRun run;
};

/// A run of step.
struct StepSelection {
  PenalisedSelection run;
  bool by_rows = false;  ///< rows were left out, because there is one domain

  /// Mean over domains of the loss on each, by the path that was not given it, after each step; empty without folds.
  std::vector<double> held_out_loss() const;
};

/// A run of icp.
struct IcpSelection {
  IcpStageOptions options;
  IcpResult run;
};

struct FeatureSelection {
  std::string pipeline;
  PathRoute route = PathRoute::lazy;
  std::vector<std::string> features;
  std::vector<std::string> classes;
  std::vector<std::string> domains;                   ///< those with labels
  std::vector<std::optional<double>> source_auroc;    ///< of the steps kept; empty without rows or classes
  std::vector<std::optional<double>> held_out_auroc;  ///< of the domains left out in turn
  std::variant<GreedySelection, StepSelection, IcpSelection> found;
  /// The selection of each class against the rest, if there are more than two; AUROCs and `found` are in these alone.
  std::vector<FeatureSelection> of_class;

  /// The steps that were kept; of two classes or numbers.
  PathResult path() const;
  /// The features that were taken, each once, in the order of selection; those of several classes in turns.
  std::vector<Index> taken() const;
};

/// A selection from these moments, with nothing selected yet.
FeatureSelection selection_of(const Moments& moments, PathRoute route);

/// The selections of several classes, each against the rest, as one.
FeatureSelection selection_of(std::vector<std::string> classes, std::vector<FeatureSelection> of_class);

FeatureSelection select_greedy(PathRule rule, const SelectionInput& input, const GreedyOptions& options,
                               const Context& context);
FeatureSelection select_icp(const SelectionInput& input, const IcpStageOptions& options, const Context& context);
FeatureSelection select_step(const SelectionInput& input, const StepOptions& options, const Context& context);

}  // namespace ecotone
