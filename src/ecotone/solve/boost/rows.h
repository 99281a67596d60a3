#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/error.h"
#include "ecotone/solve/boost/boost.h"

/// The rows of both domains with their weights, as seen by the rounds of boosting. Internal to solve/.
namespace ecotone {

/// Source weights that a stump with sign +1 gets right and wrong, and target weights inside and outside its band; each
/// up to a common factor.
struct StumpMasses {
  double right = 0, wrong = 0;
  double inside = 0, outside = 0;
};

/// Results of an update.
struct UpdateSums {
  double log_z_source = 0;  ///< ln of the factor by which the sum of the source weights changed
  double log_z_target = 0;
  double err = 0, margin = 0, margin_normalised = 0, loss_target = 0;  ///< as in BoostRound
};

/// One step of the weights.
struct BoostStep {
  Stump stump;  ///< with its sign
  double alpha = 0;
  double beta = 0;
  double alpha_sum = 0;  ///< over all rounds, including this one
  Index next = -1;       ///< attribute that will be needed next, or -1
};

/// p = sum (alpha + beta) h of every row, for the criteria, with the weight of the row.
struct Projected {
  std::vector<std::pair<double, double>> source, target;
};

/// The checked source rows, without those of weight 0. What it refers to must outlive it.
struct BoostData {
  Features source;
  Features target;
  std::span<const double> y;       ///< labels of the kept source rows
  std::span<const double> weight;  ///< empty: all 1
  double total = 0;                ///< sum of the weights
  double gamma = 0.2;
  const char* who = "";

  double weight_of(std::size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
};

/// Weights scaled so that a common factor does not matter: if all are integer multiples of the smallest, the smallest
/// becomes 1, so that a weight of 2 is a row twice; otherwise their mean becomes 1. Empty if all are equal.
std::vector<double> scaled_weights(std::vector<double> weight, bool copies, const char* who);

class BoostRows {
 public:
  virtual ~BoostRows() = default;

  double low(Index attribute) const { return low_[at(attribute)]; }
  double high(Index attribute) const { return high_[at(attribute)]; }
  Index cols() const { return static_cast<Index>(low_.size()); }

  /// The nearest threshold that these rows can distinguish.
  virtual double nearest_threshold(Index attribute, double theta) const = 0;
  /// Masses of stumps with sign +1 on one attribute.
  virtual void masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context& context) = 0;
  /// The attribute and threshold with the smallest source error, with either sign; ties: first attribute, lowest
  /// threshold.
  virtual StumpCandidate best_split(const Context& context) = 0;
  virtual UpdateSums update(const BoostStep& step, const Context& context) = 0;

  /// Rows that grow trees number them: `attribute` of a stump is then the number of a tree since the last `forget`.
  virtual bool has_trees() const { return false; }
  virtual void forget() {}
  virtual StumpCandidate draw(Random&) { internal_error("boost: these rows draw no trees"); }
  virtual const BoostTree& tree(Index) const { internal_error("boost: these rows have no trees"); }
  /// Adds weight h to the projections of all rows.
  virtual void project(const Stump& stump, double weight, Projected& p, const Context& context) const = 0;
  /// Weights of the rows, sum 1.
  virtual Vector source_weight() const = 0;
  virtual Vector target_weight() const = 0;

 protected:
  std::vector<double> low_, high_;  ///< range of each attribute over both domains
};

/// The rows as they are held, for several runs, each with its own weights.
class BoostTable {
 public:
  virtual ~BoostTable() = default;
  /// The rows at the start of a run; the table must outlive them.
  virtual std::unique_ptr<BoostRows> start() const = 0;
  /// Whether parallel runs are better than threads within one run.
  virtual bool runs_side_by_side() const = 0;
};
std::unique_ptr<BoostTable> make_exact_table(const BoostData& data, int runs, const Context& context);
/// `kept` runs keep the weights of all rows.
std::unique_ptr<BoostTable> make_binned_table(const BoostData& data, BoostBins bins, int kept, const Context& context);
std::unique_ptr<BoostTable> make_tree_table(const BoostData& data, BoostBins bins, int depth, int runs,
                                            const Context& context);

/// Sets the divergences of a round on p / total: see the criteria of BoostRound.
void set_criteria(const Projected& p, double total, double gamma, BoostRound& round);

}  // namespace ecotone
