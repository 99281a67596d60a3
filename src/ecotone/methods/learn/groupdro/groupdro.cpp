#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/pipeline_text.h"

namespace ecotone {
namespace {

enum class GroupdroAdjust { none, own };

struct GroupdroOptions {
  std::string base = "auto";
  int rounds = 50;
  double eta = 0.5;
  GroupdroAdjust adjust = GroupdroAdjust::none;
  double tol = 1e-3;

  static constexpr auto fields() {
    return std::tuple{
        field(
            "base", &GroupdroOptions::base,
            "The learner, with its options: base='logistic l2=0.1'. Any learner that heeds row weights; linear models "
            "without l1 are solved exactly, others by rounds. auto: logistic, or least_squares for numbers"),
        field("rounds", &GroupdroOptions::rounds, "Largest number of rounds, each of which fits the base once",
              between(1, 100000)),
        field("eta", &GroupdroOptions::eta,
              "Step of a round: a domain's share is multiplied by exp(eta times its loss over the mean loss)",
              above(0.0)),
        field("adjust", &GroupdroOptions::adjust,
              "own: the loss that the base has when fitted to a domain alone is subtracted from the domain's loss, so "
              "that noisy domains do not dominate; by rounds",
              one_of("none", "own")),
        field("tol", &GroupdroOptions::tol,
              "Rounds end when the worst domain's loss exceeds that of the mixture by less than this share of it",
              above(0.0))};
  }
};

/// A domain's loss at the end, and its share in the worst mixture.
struct GroupdroDomain {
  std::string domain;
  double loss = 0;
  double share = 0;
};

struct GroupdroNotes {
  std::vector<GroupdroDomain> domains;
  Index rounds = 0;
  double gap = 0;  ///< worst loss minus the mixture's, or minus the best lower bound of all rounds, with penalties
};

/// A learner fitted to the worst mixture of domains: it predicts as its base does.
class Groupdro : public Fitted {
 public:
  Groupdro(std::shared_ptr<const Fitted> base, GroupdroNotes notes)
      : base_(std::move(base)), notes_(std::move(notes)) {}

  Prediction predict(const Batch& batch, const Context& context) const override {
    return base_->predict(batch, context);
  }
  bool needs_domain_sample() const override { return base_->needs_domain_sample(); }
  Index training_rows() const override { return base_->training_rows(); }

  StageState save() const override {
    StageState state;
    const StageState base = base_->save();
    for (const auto& [name, array] : base.arrays()) state.set("base/" + name, array);
    state.info["base"] = base.info;
    Json list = Json::array();
    for (const GroupdroDomain& each : notes_.domains)
      list.push_back({{"domain", each.domain}, {"loss", each.loss}, {"share", each.share}});
    state.info["domain_losses"] = std::move(list);
    state.info["rounds"] = notes_.rounds;
    state.info["gap"] = notes_.gap;
    return state;
  }

 private:
  std::shared_ptr<const Fitted> base_;
  GroupdroNotes notes_;
};

/// The text of the base, where `auto` stands for a learner of the task.
std::string base_text(const std::string& base, Task task) {
  if (base != "auto") return base;
  return task == Task::regress ? "least_squares" : "logistic";
}

Stage base_stage(const std::string& text) {
  const Pipeline pipeline = Pipeline::parse(text);
  const Stage& stage = pipeline.stages().front();
  const bool learner = pipeline.stages().size() == 1 && stage.method->family == Family::learn &&
                       !stage.method->follows_learner() && stage.method->name != "groupdro";
  if (!learner)
    option_error("bad_option", "groupdro: base must be one learner such as 'logistic l2=0.1', got '{}'", text);
  return stage;
}

/// A base that can count domains equally would undo the weights of the rounds: it counts rows, which is not its default
/// for some, unless that was asked for.
void count_rows(const std::string& text, Stage& base) {
  const char* const option = "domain_weights";
  if (!base.options.has(option) || base.options.at(option) == "pooled") return;
  const std::vector<StageGiven> given = read_pipeline_text(text, Braces::refuse);
  if (std::ranges::find(given.front().options, option, &OptionGiven::name) != given.front().options.end())
    option_error("bad_option",
                 "groupdro: base {} weights domains itself with domain_weights={}; use domain_weights=pooled or leave "
                 "it out",
                 base.method->name, base.options.at(option).get<std::string>());
  base.options.set(option, "pooled");
}

/// Whether the base is a linear model that the engine of risks over domains can fit.
bool solved_exactly(const Stage& base, const TrainView& view) {
  const OptionValues& values = base.options;
  if (!values.has("risk")) return false;
  const bool at_once = view.y.classes.size() <= 2 || (values.has("multiclass") && values.at("multiclass") == "softmax");
  return at_once && values.at("risk") == "mean" && values.at("l1") == 0.0 && values.at("solver") == "auto" &&
         values.at("penalise_offset") == false && (!values.has("anchor") || values.at("anchor") == 1.0);
}

/// Whether the base minimises the losses that rounds compare, beside a penalty that stays the same: then the minimum of
/// every mixture is a lower bound of the worst one.
bool bounds_mixtures(const Stage& base, const TrainView& view) {
  const OptionValues& values = base.options;
  const std::string& name = base.method->name;
  if (name != "logistic" && name != "softmax" && name != "least_squares") return false;
  const bool at_once = view.y.classes.size() <= 2 || (values.has("multiclass") && values.at("multiclass") == "softmax");
  return at_once && values.at("risk") == "mean" && values.at("l1").is_number() && values.at("l2").is_number();
}

/// Loss of a row's answer: minus the logarithm of its class's probability, or half the squared error.
double answer_loss(const Prediction& answer, const Labels& y, Index i) {
  if (y.task == Task::regress) return 0.5 * (answer.value[i] - y.value[i]) * (answer.value[i] - y.value[i]);
  return -std::log(std::max(answer.probability(i, y.index[at(i)]), 1e-15));
}

/// Mean loss of each domain of a view by row weights; 0 where it has no weight.
Vector domain_losses(const Fitted& fitted, const TrainView& view, const Context& context) {
  const Prediction answer = fitted.predict({view.labelled_x(), std::nullopt}, context);
  Vector loss = Vector::Zero(view.domain.count());
  Vector weight = Vector::Zero(view.domain.count());
  for (Index i = 0; i < view.labelled(); ++i) {
    const Index e = view.domain.index[at(i)];
    loss[e] += view.weight_of(i) * answer_loss(answer, view.y, i);
    weight[e] += view.weight_of(i);
  }
  return (weight.array() > 0).select(loss.array() / weight.array().max(1e-300), 0.0);
}

/// The loss of the base on each domain when it is fitted to that domain alone; 0 where it has one class.
Vector own_losses(const Stage& base, const TrainView& view, const Vector& weight, const Context& context) {
  Vector own = Vector::Zero(view.domain.count());
  for (Index e = 0; e < own.size(); ++e) {
    if (!(weight[e] > 0)) continue;
    std::vector<Index> rows;
    for (Index i = 0; i < view.labelled(); ++i)
      if (view.domain.index[at(i)] == e) rows.push_back(i);
    const TrainView alone = view_of_rows(view, rows);
    if (alone.y.task == Task::classify && alone.y.classes.size() < 2) continue;
    FitCache cache;
    const StageResult fit = base.method->fit(alone, base.options, context, cache);
    const Vector losses = domain_losses(*fit.fitted, alone, context);
    own[e] = losses[alone.domain.index.front()];
  }
  return own;
}

class GroupdroRounds {
 public:
  GroupdroRounds(const Stage& base, const TrainView& view, const GroupdroOptions& options, const Context& context)
      : base_(base),
        view_(view),
        options_(options),
        context_(context),
        bounded_(bounds_mixtures(base, view)),
        weight_(Vector::Zero(view.domain.count())) {
    for (Index i = 0; i < view.labelled(); ++i) weight_[view.domain.index[at(i)]] += view.weight_of(i);
    subtracted_ = Vector::Zero(weight_.size());
    if (options.adjust == GroupdroAdjust::own) subtracted_ = own_losses(base, view, weight_, context);
  }

  StageResult run() {
    Vector q = (weight_.array() > 0).cast<double>();
    q /= q.sum();
    GroupdroNotes notes;
    std::shared_ptr<const Fitted> found;
    FitCache cache(FitCache::Order::in_order);  // a round starts where the one before it stopped
    bool done = false;
    Index round = 0;
    for (; round < options_.rounds && !done; ++round) {
      context_.check_cancelled();
      const StageResult fit = base_.method->fit(mixed(q), base_.options, context_, cache);
      const Vector plain = domain_losses(*fit.fitted, view_, context_);
      const Vector losses = (weight_.array() > 0).select((plain - subtracted_).array(), 0.0);
      if (!losses.allFinite())
        data_error("non_finite", "groupdro: the losses overflow; scale the features or divide the labels");
      const RoundBounds bounds = bounds_of(fit, q, plain, losses);
      if (bounds.holds) lower_ = std::max(lower_, bounds.lower);
      if (!found || bounds.upper < upper_) {
        upper_ = bounds.upper;
        found = fit.fitted;
        notes = {domains(plain, q), 0, bounds.upper - bounds.lower};
      }
      const bool bounded = std::isfinite(lower_);
      if (bounded) notes.gap = std::max(0.0, upper_ - lower_);
      const double gap = bounded ? notes.gap : bounds.upper - bounds.lower;
      // With what is subtracted the worst loss may be near 0, so the plain one tells what is small.
      done = gap <= options_.tol * std::max(plain.maxCoeff(), 1e-12);
      q = next(q, losses);
    }
    notes.rounds = round;
    Status status;
    if (!done)
      status = {false, fmt::format("after {} rounds the worst domain's loss is still {:.2g} above that of the mixture",
                                   round, notes.gap)};
    return {std::make_shared<Groupdro>(std::move(found), std::move(notes)), view_, std::move(status)};
  }

 private:
  const Stage& base_;
  const TrainView& view_;
  const GroupdroOptions& options_;
  const Context& context_;
  bool bounded_;
  Vector weight_;  ///< of each domain
  Vector subtracted_;
  double upper_ = std::numeric_limits<double>::infinity();   ///< least objective of a round
  double lower_ = -std::numeric_limits<double>::infinity();  ///< largest minimum of a mixture

  /// The objective of a round's fit, and of its mixture; both with the penalty if that is known.
  struct RoundBounds {
    double upper = 0;
    double lower = 0;
    bool holds = false;  ///< for every fit of the base
  };
  RoundBounds bounds_of(const StageResult& fit, const Vector& q, const Vector& plain, const Vector& losses) const {
    const double worst = (weight_.array() > 0).select(losses.array(), -HUGE_VAL).maxCoeff();
    // The base's risk is sum q_e L_e and its penalty.
    const double penalty = bounded_ ? fit.fitted->save().number("risk") - q.dot(plain) : 0;
    return {worst + penalty, q.dot(losses) + penalty, bounded_ && fit.status.converged};
  }

  /// The view with row weights q_e / n_e, of mean 1.
  TrainView mixed(const Vector& q) const {
    TrainView view = view_;
    view.weight.resize(view.labelled());
    for (Index i = 0; i < view.labelled(); ++i) {
      const Index e = view.domain.index[at(i)];
      view.weight[i] =
          weight_[e] > 0 ? static_cast<double>(view.labelled()) * q[e] * view_.weight_of(i) / weight_[e] : 0;
    }
    return view;
  }

  /// q_e exp(eta L_e / mean |L|), normalised. A mean near 0 does no harm: the gap is then small, and rounds end.
  Vector next(const Vector& q, const Vector& losses) const {
    const auto count = static_cast<double>((weight_.array() > 0).count());
    const double mean = losses.cwiseAbs().sum() / count;
    if (!(mean > 0)) return q;
    const Vector power = options_.eta * losses / mean;
    const Vector result = q.array() * (power.array() - power.maxCoeff()).exp();
    return result / result.sum();
  }

  std::vector<GroupdroDomain> domains(const Vector& losses, const Vector& q) const {
    std::vector<GroupdroDomain> list;
    for (Index e = 0; e < losses.size(); ++e)
      if (weight_[e] > 0) list.push_back({view_.domain.names[at(e)], losses[e], q[e]});
    return list;
  }
};

/// The worst domain is the worst share of the domains, as small as can be.
StageResult fit_exactly(Stage stage, const TrainView& view, const Context& context, FitCache& cache) {
  stage.options.set("risk", "cvar");
  stage.options.set("level", "domain");
  stage.options.set("share", 1e-9);
  StageResult result = stage.method->fit(view, stage.options, context, cache);
  const StageState state = result.fitted->save();
  GroupdroNotes notes;
  if (state.info.contains("domain_losses")) {
    for (const Json& each : state.info.at("domain_losses"))
      notes.domains.push_back(
          {each.at("domain").get<std::string>(), each.at("loss").get<double>(), each.at("share").get<double>()});
    // Without a bound nothing is known, and the status says that it did not converge.
    const double lower = state.info.contains("lower") ? state.number("lower") : 0;
    notes.gap = std::max(0.0, state.number("risk") - lower);
  }
  result.fitted = std::make_shared<Groupdro>(std::move(result.fitted), std::move(notes));
  return result;
}

Index labelled_domains_with_weight(const TrainView& view) {
  std::vector<bool> has(view.domain.names.size());
  for (Index i = 0; i < view.labelled(); ++i)
    if (view.weight_of(i) > 0) has[at(view.domain.index[at(i)])] = true;
  return std::ranges::count(has, true);
}

StageResult fit_groupdro(const TrainView& view, const GroupdroOptions& options, const Context& context,
                         FitCache& cache) {
  const std::string text = base_text(options.base, view.y.task);
  Stage base = base_stage(text);
  count_rows(text, base);
  if (base.method->regression_only() && view.y.task == Task::classify)
    data_error("needs_numbers", "groupdro: base {} predicts numbers, but the label is a class", base.method->name);
  if (options.adjust == GroupdroAdjust::none && solved_exactly(base, view))
    return fit_exactly(base, view, context, cache);
  if (labelled_domains_with_weight(view) < 2) {
    StageResult result = base.method->fit(view, base.options, context, cache);
    result.fitted = std::make_shared<Groupdro>(std::move(result.fitted), GroupdroNotes{});
    if (result.status.converged)
      result.status.text = "one_domain: the plain fit, because there are no domains to compare";
    return result;
  }
  return GroupdroRounds(base, view, options, context).run();
}

std::shared_ptr<const Fitted> load_groupdro(const StageState& state, const GroupdroOptions& options,
                                            const StageInput& input) {
  const Stage base = base_stage(base_text(options.base, input.task));
  if (base.method->regression_only() && input.task != Task::regress)
    file_error("bad_model", "groupdro: base {} is for regression, but the task is classification", base.method->name);
  StageState own;
  const auto info = state.info.find("base");
  if (info == state.info.end() || !info->is_object()) file_error("bad_model", "'base' must be an object");
  own.info = *info;
  const std::string prefix = "base/";
  for (auto it = state.arrays().lower_bound(prefix); it != state.arrays().end() && it->first.starts_with(prefix); ++it)
    own.set(it->first.substr(prefix.size()), it->second);
  GroupdroNotes notes;
  const auto list = state.info.find("domain_losses");
  if (list == state.info.end() || !list->is_array()) file_error("bad_model", "'domain_losses' must be a list");
  for (const Json& item : *list) {
    if (!item.is_object()) file_error("bad_model", "'domain_losses' must be a list of objects");
    StageState one;
    one.info = item;
    notes.domains.push_back({one.text("domain"), one.number("loss"), one.number("share")});
  }
  notes.rounds = state.count("rounds");
  notes.gap = state.number("gap");
  return std::make_shared<Groupdro>(base.method->load(own, base.options, input), std::move(notes));
}

}  // namespace

Method groupdro_method() {
  return make_method<GroupdroOptions, fit_groupdro, load_groupdro>(
      {.name = "groupdro",
       .family = Family::learn,
       .summary = "Fits a learner to the mixture of training domains that is worst for it.",
       .when = "when the worst domain matters more than the mean. Assumes that the next domain is a mixture of the "
               "training domains; harms where a domain is hard because its labels are noisy, and without a penalty it "
               "does nothing. In our study it was better than nothing in 23 and worse in 10 of 66 new domains.",
       .example = "impute | scale | groupdro base='logistic l2=0.01'",
       .citation = "sagawa2020",
       .learns = Learns::labels,
       .without_rows = "give it a base that holds none, such as logistic or ridge"});
}

}  // namespace ecotone
