#include "ecotone/methods/learn/adaboost/boosted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

/// A number of every round, by its name in model files.
struct History {
  const char* name;
  double BoostRound::*member;
};
constexpr std::array<History, 7> source_history = {{{"eps", &BoostRound::eps},
                                                    {"alpha", &BoostRound::alpha},
                                                    {"log_z", &BoostRound::log_z},
                                                    {"log_bound", &BoostRound::log_bound},
                                                    {"err_source", &BoostRound::err_source},
                                                    {"margin_loss", &BoostRound::margin_loss},
                                                    {"margin_loss_normalised", &BoostRound::margin_loss_normalised}}};
constexpr std::array<History, 5> target_history = {{{"viol", &BoostRound::viol},
                                                    {"beta", &BoostRound::beta},
                                                    {"log_w_source", &BoostRound::log_w_source},
                                                    {"log_w_target", &BoostRound::log_w_target},
                                                    {"loss_target", &BoostRound::loss_target}}};
constexpr std::array<History, 5> criteria_history = {{{"d_h", &BoostRound::d_h},
                                                      {"d_hgamma", &BoostRound::d_hgamma},
                                                      {"d_band", &BoostRound::d_band},
                                                      {"eq13", &BoostRound::eq13},
                                                      {"eq14", &BoostRound::eq14}}};

std::vector<History> histories(bool has_target, bool criteria) {
  std::vector<History> all(source_history.begin(), source_history.end());
  if (has_target) all.insert(all.end(), target_history.begin(), target_history.end());
  if (criteria) all.insert(all.end(), criteria_history.begin(), criteria_history.end());
  return all;
}

/// A number of all rounds of all runs, one after the other.
template <class Get>
Vector gathered(const std::vector<BoostFit>& fits, Index rounds, const Get& get) {
  Vector values(rounds);
  Index n = 0;
  for (const BoostFit& fit : fits)
    for (const BoostRound& round : fit.rounds) values[n++] = get(round);
  return values;
}

template <class Set>
void scatter(std::vector<BoostFit>& fits, const Vector& values, const Set& set) {
  Index n = 0;
  for (BoostFit& fit : fits)
    for (BoostRound& round : fit.rounds) set(round, values[n++]);
}

constexpr std::array<BoostStop, 4> stops = {BoostStop::rounds, BoostStop::no_weak_da_learner,
                                            BoostStop::no_weak_learner, BoostStop::perfect};

Json run_json(const BoostFit& fit, Index kept) {
  return {{"rounds", fit.rounds.size()},
          {"kept", kept},
          {"stop", boost_stop_name(fit.stop)},
          {"refused", {{"source", fit.refused.source}, {"target", fit.refused.target}, {"b_t", fit.refused.b_t}}},
          {"binned", fit.binned}};
}

Index whole_number(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer() || found->get<double>() < 0 || found->get<double>() > 1e12)
    file_error("bad_model", "'{}' of a run must be a whole number of at least 0", name);
  return found->get<Index>();
}

BoostFit run_of(const Json& json, Index& kept, Index left) {
  if (!json.is_object()) file_error("bad_model", "'runs' must be a list of objects");
  const Index rounds = whole_number(json, "rounds");
  // Checked before memory is allocated: the arrays say how many rounds there can be.
  if (rounds > left) file_error("bad_model", "the runs have more rounds than the arrays");
  BoostFit fit;
  fit.rounds.resize(static_cast<std::size_t>(rounds));
  kept = whole_number(json, "kept");
  if (kept > rounds) file_error("bad_model", "a run keeps {} of {} rounds", kept, rounds);
  const std::string stop = json.value("stop", Json()).is_string() ? json["stop"].get<std::string>() : "";
  const auto found = std::find_if(stops.begin(), stops.end(), [&](BoostStop s) { return boost_stop_name(s) == stop; });
  if (found == stops.end()) file_error("bad_model", "'stop' of a run is '{}'", stop);
  fit.stop = *found;
  const auto refused = json.find("refused");
  if (refused == json.end() || !refused->is_object()) file_error("bad_model", "'refused' of a run is missing");
  fit.refused = {whole_number(*refused, "source"), whole_number(*refused, "target"), whole_number(*refused, "b_t")};
  const auto binned = json.find("binned");
  if (binned == json.end() || !binned->is_boolean()) file_error("bad_model", "'binned' of a run is missing");
  fit.binned = binned->get<bool>();
  return fit;
}

/// The column that a number of a model file names.
Index column_of(double value, Index cols) {
  if (!(value >= 0 && value < static_cast<double>(cols)) || std::floor(value) != value)
    file_error("bad_model", "array 'attribute' names column {}, there are {}", value, cols);
  return static_cast<Index>(value);
}

constexpr std::array<std::pair<const char*, double Stump::*>, 4> stump_arrays = {
    {{"theta", &Stump::theta}, {"sign", &Stump::sign}, {"left", &Stump::left}, {"right", &Stump::right}}};

void save_stumps(const std::vector<BoostFit>& fits, Index n, StageState& state) {
  state.set("attribute",
            gathered(fits, n, [](const BoostRound& round) { return static_cast<double>(round.stump.attribute); }));
  for (const auto& each : stump_arrays)
    state.set(each.first, gathered(fits, n, [&](const BoostRound& round) { return round.stump.*each.second; }));
}

void load_stumps(const StageState& state, Index n, Index cols, std::vector<BoostFit>& fits) {
  scatter(fits, state.vector("attribute", n),
          [&](BoostRound& round, double value) { round.stump.attribute = column_of(value, cols); });
  for (const auto& each : stump_arrays)
    scatter(fits, state.vector(each.first, n),
            [&](BoostRound& round, double value) { round.stump.*each.second = value; });
  for (const BoostFit& fit : fits) {
    for (const BoostRound& round : fit.rounds) {
      if (std::abs(round.stump.sign) != 1) file_error("bad_model", "array 'sign' must hold -1 and 1 only");
      if (!(round.stump.left > 0 && round.stump.right > 0))
        file_error("bad_model", "arrays 'left' and 'right' must be > 0");
    }
  }
}

/// One row per round: columns and thresholds of the nodes, and the values and signs of the leaves.
void save_trees(const std::vector<BoostFit>& fits, Index n, int depth, StageState& state) {
  const Index leaves = Index{1} << static_cast<unsigned>(depth);
  Matrix attribute(n, leaves - 1), theta(n, leaves - 1), value(n, leaves), sign(n, leaves);
  Index row = 0;
  for (const BoostFit& fit : fits) {
    for (const BoostTree& tree : fit.trees) {
      for (Index k = 0; k < leaves - 1; ++k) {
        attribute(row, k) = static_cast<double>(tree.node[at(k)].attribute);
        theta(row, k) = tree.node[at(k)].theta;
      }
      for (Index k = 0; k < leaves; ++k) {
        value(row, k) = tree.value[at(k)];
        sign(row, k) = tree.sign[at(k)];
      }
      ++row;
    }
  }
  state.set("attribute", attribute);
  state.set("theta", theta);
  state.set("value", value);
  state.set("sign", sign);
}

void load_trees(const StageState& state, Index n, Index cols, int depth, std::vector<BoostFit>& fits) {
  const Index leaves = Index{1} << static_cast<unsigned>(depth);
  const Matrix attribute = state.matrix("attribute", n, leaves - 1), theta = state.matrix("theta", n, leaves - 1);
  const Matrix value = state.matrix("value", n, leaves), sign = state.matrix("sign", n, leaves);
  if (value.size() > 0 && value.cwiseAbs().maxCoeff() > 1) file_error("bad_model", "array 'value' must be in [-1, 1]");
  if ((sign.array().abs() != 1 || sign.array() * value.array() < 0).any())
    file_error("bad_model", "array 'sign' must hold -1 and 1 only, the signs of 'value'");
  Index row = 0;
  for (BoostFit& fit : fits) {
    for (std::size_t r = 0; r < fit.rounds.size(); ++r, ++row) {
      BoostTree tree;
      for (Index k = 0; k < leaves - 1; ++k) tree.node.push_back({column_of(attribute(row, k), cols), theta(row, k)});
      for (Index k = 0; k < leaves; ++k) {
        tree.value.push_back(value(row, k));
        tree.sign.push_back(sign(row, k));
      }
      fit.trees.push_back(std::move(tree));
    }
  }
}

}  // namespace

BoostRowsKind rows_kind(ExactRowsOption option) {
  switch (option) {
    case ExactRowsOption::yes:
      return BoostRowsKind::exact;
    case ExactRowsOption::no:
      return BoostRowsKind::binned;
    case ExactRowsOption::automatic:
      break;
  }
  return BoostRowsKind::automatic;
}

std::vector<double> boost_labels(const TrainView& view, const char* who) {
  require_classes(who, view);
  require_two_classes(who, view);
  return binary_targets(view.y);
}

std::vector<double> boost_weights(const TrainView& view, GroupShares shares) {
  std::vector<double> weight(view.weight.begin(), view.weight.end());
  if (shares == GroupShares::pooled) return weight;
  const auto rows = static_cast<std::size_t>(view.labelled());
  weight.resize(rows, 1);
  std::vector<double> total(static_cast<std::size_t>(view.domain.count()), 0);
  const auto domain = [&](std::size_t i) { return static_cast<std::size_t>(view.domain.index[i]); };
  for (std::size_t i = 0; i < rows; ++i) total[domain(i)] += weight[i];
  for (std::size_t i = 0; i < rows; ++i)
    if (total[domain(i)] > 0) weight[i] /= total[domain(i)];
  return weight;
}

std::string rounds_text(Index rounds) { return fmt::format("{} round{}", rounds, rounds == 1 ? "" : "s"); }

BoostedRuns::BoostedRuns(std::vector<BoostFit> fits, std::vector<Index> kept, Shape shape)
    : fits_(std::move(fits)), kept_(std::move(kept)), shape_(shape) {
  for (BoostFit& fit : fits_) fit.source_weight = fit.target_weight = Vector();
}

Index BoostedRuns::rounds() const {
  Index sum = 0;
  for (const BoostFit& fit : fits_) sum += std::ssize(fit.rounds);
  return sum;
}

double BoostedRuns::weight_sum(std::size_t r, BoostSide side) const {
  double sum = 0;
  for (Index n = 0; n < kept_[r]; ++n) {
    const BoostRound& round = fits_[r].rounds[at(n)];
    sum += side == BoostSide::source ? round.alpha : round.beta;
  }
  return sum;
}

void BoostedRuns::add_run(std::size_t r, BoostSide side, double factor, Vote& vote) const {
  for (Index n = 0; n < kept_[r]; ++n) {
    const auto k = static_cast<std::size_t>(n);
    const BoostRound& round = fits_[r].rounds[k];
    if (shape_.depth > 0) {
      vote.trees.push_back(fits_[r].trees[k]);
    } else {
      vote.stumps.push_back(round.stump);
    }
    vote.weights.push_back(factor * (side == BoostSide::source ? round.alpha : round.beta));
  }
}

Vector BoostedRuns::values(const Vote& vote, const Features& x, const Context& context) {
  if (!vote.trees.empty()) return tree_votes(vote.trees, vote.weights, x, context);
  return StumpVote(vote.stumps, vote.weights).values(x, context);
}

Vector BoostedRuns::mean_vote(BoostSide side, const Features& x, const Context& context) const {
  // f = mean over runs of sum w sign(h) / sum w: one vote of all hypotheses.
  std::vector<double> sums;
  Index runs = 0;
  for (std::size_t r = 0; r < fits_.size(); ++r) {
    sums.push_back(weight_sum(r, side));
    runs += sums.back() > 0 ? 1 : 0;
  }
  Vote vote;
  for (std::size_t r = 0; r < fits_.size(); ++r)
    if (sums[r] > 0) add_run(r, side, 1 / (sums[r] * static_cast<double>(runs)), vote);
  return values(vote, x, context);
}

Vector BoostedRuns::plain_vote(const Features& x, const Context& context) const {
  Vote vote;
  add_run(0, BoostSide::source, 1, vote);
  return values(vote, x, context);
}

void BoostedRuns::save(StageState& state) const {
  state.info["runs"] = Json::array();
  for (std::size_t r = 0; r < fits_.size(); ++r) state.info["runs"].push_back(run_json(fits_[r], kept_[r]));
  const Index n = rounds();
  if (shape_.depth > 0) {
    save_trees(fits_, n, shape_.depth, state);
  } else {
    save_stumps(fits_, n, state);
  }
  for (const History& each : histories(shape_.has_target, shape_.criteria))
    state.set(each.name, gathered(fits_, n, [&](const BoostRound& round) { return round.*each.member; }));
}

BoostedRuns BoostedRuns::load(const StageState& state, Index cols, Shape shape) {
  BoostedRuns runs;
  runs.shape_ = shape;
  const Index n = state.vector("alpha", -1).size();
  const auto list = state.info.find("runs");
  if (list == state.info.end() || !list->is_array() || list->empty())
    file_error("bad_model", "'runs' must be a list of objects");
  Index left = n;
  for (const Json& json : *list) {
    Index kept = 0;
    runs.fits_.push_back(run_of(json, kept, left));
    runs.kept_.push_back(kept);
    left -= std::ssize(runs.fits_.back().rounds);
  }
  if (left != 0) file_error("bad_model", "the runs have fewer rounds than the arrays");
  if (std::all_of(runs.kept_.begin(), runs.kept_.end(), [](Index kept) { return kept == 0; }))
    file_error("bad_model", "no run keeps a round");
  if (shape.depth > 0) {
    load_trees(state, n, cols, shape.depth, runs.fits_);
  } else {
    load_stumps(state, n, cols, runs.fits_);
  }
  for (const History& each : histories(shape.has_target, shape.criteria))
    scatter(runs.fits_, state.vector(each.name, n),
            [&](BoostRound& round, double value) { round.*each.member = value; });
  // What the floor allows: the sums of hostile weights would overflow.
  for (const BoostFit& fit : runs.fits_)
    for (const BoostRound& round : fit.rounds)
      if (round.alpha < 0 || round.alpha > boost_most_vote || round.beta < 0 ||
          round.beta > boost_most_vote / shape.gamma)
        file_error("bad_model", "arrays 'alpha' and 'beta' must be in [0, {}] and [0, {}]", boost_most_vote,
                   boost_most_vote / shape.gamma);
  for (std::size_t r = 0; r < runs.fits_.size(); ++r) {
    for (const BoostSide side : {BoostSide::source, BoostSide::target}) {
      const double sum = runs.weight_sum(r, side);
      if (!std::isfinite(2 * sum) || (sum > 0 && !std::isfinite(1 / sum)))
        file_error("bad_model", "the weights of run {} add up to {}", r + 1, sum);
    }
  }
  return runs;
}

}  // namespace ecotone
