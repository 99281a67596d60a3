#include <cmath>
#include <limits>

#include "ecotone/base/json_number.h"
#include "ecotone/methods/learn/conformal/conformal.h"
#include "ecotone/methods/model.h"

namespace ecotone {
namespace {

std::vector<double> as_list(const Vector& values) { return {values.begin(), values.end()}; }

[[noreturn]] void bad_conformal(const std::string& what) { file_error("bad_model", "{}", what); }

/// Puts a model's state into that of a stage, its arrays under a prefix.
void put_model(StageState& state, const std::string& name, const Model& model) {
  const StageState own = model.as_state();
  for (const auto& [array_name, array] : own.arrays()) state.set(name + "." + array_name, array);
  state.info[name] = own.info;
}

std::shared_ptr<const Model> take_model(const StageState& state, const std::string& name) {
  StageState own;
  const auto found = state.info.find(name);
  if (found == state.info.end() || !found->is_object()) bad_conformal(fmt::format("'{}' must be an object", name));
  own.info = *found;
  const std::string prefix = name + ".";
  for (const auto& [array_name, array] : state.arrays())
    if (array_name.starts_with(prefix)) own.set(array_name.substr(prefix.size()), array);
  return std::make_shared<const Model>(Model::from_state(own, fmt::format("model '{}'", name)));
}

double share_of(const Json& value, const char* name) {
  if (!value.is_number()) bad_conformal(fmt::format("'{}' must be a number", name));
  const double share = value.get<double>();
  if (!(share >= 0 && share <= 1 + 1e-9)) bad_conformal(fmt::format("'{}' must be in [0, 1], is {}", name, share));
  return share;
}

Json coverage_json(const ConformalReport& report) {
  Json list = Json::array();
  for (const DomainCoverage& domain : report.by_domain)
    list.push_back({{"domain", domain.domain},
                    {"rows", domain.rows},
                    {"coverage", domain.coverage},
                    {"size", domain.size ? Json(*domain.size) : Json("inf")}});
  return list;
}

DomainCoverage read_coverage(const Json& item) {
  if (!item.is_object()) bad_conformal("'domains_covered' must be a list of objects");
  StageState one;
  one.info = item;
  DomainCoverage domain{
      one.text("domain"), one.count("rows"), share_of(item.value("coverage", Json()), "coverage"), {}};
  if (const auto size = item.find("size"); size != item.end() && size->is_number()) {
    domain.size = one.number("size");
    if (*domain.size < 0) bad_conformal("'size' must not be negative");
  } else if (size == item.end() || *size != "inf") {
    bad_conformal("'size' must be a number or inf");
  }
  return domain;
}

/// The entry of a list of names that a text is.
template <class Enum>
Enum word_of(const StageState& state, const char* name, std::string_view (*name_of)(Enum), Enum last) {
  const std::string text = state.text(name);
  for (int k = 1; k <= static_cast<int>(last); ++k)
    if (name_of(static_cast<Enum>(k)) == text) return static_cast<Enum>(k);
  bad_conformal(fmt::format("'{}' is '{}'", name, text));
}

std::optional<double> optional_share(const StageState& state, const char* name) {
  const auto found = state.info.find(name);
  if (found == state.info.end()) return std::nullopt;
  return share_of(*found, name);
}

ConformalReport read_conformal_report(const StageState& state) {
  ConformalReport report;
  report.method = word_of(state, "method", method_name, ConformalMethod::pooled);
  report.score = word_of(state, "score", score_name, ConformalScore::scaled);
  report.level = share_of(state.info.value("level", Json()), "level");
  if (!(report.level > 0 && report.level < 1)) bad_conformal("'level' must be in (0, 1)");
  if (report.method == ConformalMethod::domainwise) report.share = share_of(state.info.value("share", Json()), "share");
  report.domains = state.count("domains");
  report.rows = state.count("rows");
  const auto covered = state.info.find("domains_covered");
  if (covered == state.info.end() || !covered->is_array()) bad_conformal("'domains_covered' must be a list");
  for (const Json& item : *covered) report.by_domain.push_back(read_coverage(item));
  if (const auto left = state.info.find("left_out"); left != state.info.end()) {
    if (!left->is_array() || left->empty()) bad_conformal("'left_out' must be a list");
    for (const Json& name : *left) {
      if (!name.is_string()) bad_conformal("'left_out' must be a list of names");
      report.left_out.push_back(name.get<std::string>());
    }
  }
  if (report.method == ConformalMethod::weighted) {
    report.ess = state.number("ess_of_weights");
    report.exponent = optional_share(state, "exponent");
    report.infinite_share = optional_share(state, "infinite_share");
  }
  return report;
}

std::vector<double> finite_scores(const StageState& state, const std::string& name, Index size) {
  return as_list(state.vector(name, size));
}

/// The scores of all domains, one after the other, and where each begins.
void put_domains(StageState& state, const ScoredDomains& domains) {
  std::vector<double> score, weight, rows;
  for (const ScoredDomain& domain : domains) {
    score.insert(score.end(), domain.score.begin(), domain.score.end());
    weight.insert(weight.end(), domain.weight.begin(), domain.weight.end());
    rows.push_back(static_cast<double>(domain.score.size()));
  }
  state.set("scores", score);
  state.set("score_weights", weight);
  state.set("domain_rows", rows);
}

void require_weights(const std::vector<double>& weights) {
  for (const double w : weights)
    if (!(w >= 0)) bad_conformal("a weight is negative");
}

/// Scores are distances, or shares that may miss 0 by rounding.
void require_scores(const std::vector<double>& scores) {
  for (const double s : scores)
    if (s < -quantile_slack) bad_conformal("a score is negative");
}

ScoredDomains take_domains(const StageState& state) {
  const std::vector<double> score = finite_scores(state, "scores", -1);
  require_scores(score);
  const std::vector<double> weight = finite_scores(state, "score_weights", std::ssize(score));
  require_weights(weight);
  ScoredDomains domains;
  std::size_t next = 0;
  for (const double rows : finite_scores(state, "domain_rows", -1)) {
    if (!(rows >= 1 && rows <= static_cast<double>(score.size() - next) && rows == std::floor(rows)))
      bad_conformal("'domain_rows' does not match the scores");
    const auto count = static_cast<std::ptrdiff_t>(rows);
    const auto first = static_cast<std::ptrdiff_t>(next);
    domains.push_back({{score.begin() + first, score.begin() + first + count},
                       {weight.begin() + first, weight.begin() + first + count}});
    next += static_cast<std::size_t>(count);
  }
  if (next != score.size() || domains.empty()) bad_conformal("'domain_rows' does not match the scores");
  return domains;
}

Conformal::Jackknife take_jackknife(const StageState& state, const StageInput& input) {
  Conformal::Jackknife rule{take_domains(state), {}, {}};
  const Index models = state.count("models");
  if (models < 1 || models > std::ssize(rule.domains)) bad_conformal("'models' does not match the domains");
  for (Index m = 0; m < models; ++m) {
    rule.models.push_back(take_model(state, fmt::format("model{}", m)));
    if (rule.models.back()->task() != input.task || !rule.models.back()->pipeline().predicts())
      bad_conformal("a model does not predict what the whole one does");
  }
  for (const double model : finite_scores(state, "model_of_domain", std::ssize(rule.domains))) {
    if (!(model >= 0 && model < static_cast<double>(models) && model == std::floor(model)))
      bad_conformal("'model_of_domain' names a model that is not there");
    rule.model_of.push_back(static_cast<std::size_t>(model));
  }
  return rule;
}

/// What makes the columns of the ratio: one for each feature.
std::shared_ptr<const Model> take_ratio_model(const StageState& state) {
  auto prepare = take_model(state, "ratio");
  if (prepare->pipeline().text() != "impute | scale")
    bad_conformal(fmt::format("the pipeline of 'ratio' is '{}'", prepare->pipeline().text()));
  if (prepare->schema().has_codes()) bad_conformal("the columns of 'ratio' are codes");
  return prepare;
}

Schema take_ratio_schema(const StageState& state) {
  const auto found = state.info.find("ratio_schema");
  if (found == state.info.end()) return {};
  Schema schema = Schema::from_json(*found, "'ratio_schema'");
  if (!schema.has_codes()) bad_conformal("'ratio_schema' has no column of codes");
  return schema;
}

Conformal::Weighted take_weighted(const StageState& state) {
  Conformal::Weighted rule;
  rule.score = finite_scores(state, "scores", -1);
  require_scores(rule.score);
  rule.weight = finite_scores(state, "score_weights", std::ssize(rule.score));
  require_weights(rule.weight);
  rule.exponent = share_of(state.info.value("exponent", Json()), "exponent");
  rule.log_scale = state.number("log_scale");
  rule.ratio.schema = take_ratio_schema(state);
  rule.ratio.prepare = take_ratio_model(state);
  rule.ratio.weights = state.vector("ratio_weights", std::ssize(rule.ratio.prepare->features()));
  rule.ratio.offset = state.number("ratio_offset");
  return rule;
}

}  // namespace

StageState Conformal::save() const {
  StageState state;
  state.info = {{"method", method_name(report_.method)},
                {"score", score_name(report_.score)},
                {"level", report_.level},
                {"domains", report_.domains},
                {"rows", report_.rows},
                {"largest_level", largest_level(static_cast<std::size_t>(report_.domains))},
                {"useful_level", useful_level(static_cast<std::size_t>(report_.domains))},
                {"guarantee", report_.guarantee()},
                {"promise", report_.promise()},
                {"domains_covered", coverage_json(report_)}};
  Json coverage = Json::object();
  for (const DomainCoverage& domain : report_.by_domain) coverage[domain.domain] = domain.coverage;
  state.info["coverage_by_domain"] = std::move(coverage);
  if (report_.method == ConformalMethod::domainwise) state.info["share"] = report_.share;
  if (!report_.left_out.empty()) state.info["left_out"] = report_.left_out;
  if (report_.ess) state.info["ess_of_weights"] = *report_.ess;
  if (report_.exponent) state.info["exponent"] = *report_.exponent;
  if (report_.infinite_share) state.info["infinite_share"] = *report_.infinite_share;
  if (fixed_) state.info["quantile"] = json_or_word(fixed_->quantile);
  if (jackknife_) {
    put_domains(state, jackknife_->domains);
    std::vector<double> model_of;
    for (const std::size_t m : jackknife_->model_of) model_of.push_back(static_cast<double>(m));
    state.set("model_of_domain", model_of);
    state.info["models"] = jackknife_->models.size();
    for (std::size_t m = 0; m < jackknife_->models.size(); ++m)
      put_model(state, fmt::format("model{}", m), *jackknife_->models[m]);
  }
  if (weighted_) {
    state.set("scores", weighted_->score);
    state.set("score_weights", weighted_->weight);
    state.info["log_scale"] = weighted_->log_scale;
    if (weighted_->ratio.schema.has_codes()) state.info["ratio_schema"] = weighted_->ratio.schema.to_json();
    put_model(state, "ratio", *weighted_->ratio.prepare);
    state.set("ratio_weights", weighted_->ratio.weights);
    state.info["ratio_offset"] = weighted_->ratio.offset;
  }
  return state;
}

std::shared_ptr<const Fitted> Conformal::load(const StageState& state, const ConformalOptions&,
                                              const StageInput& input) {
  ConformalReport report = read_conformal_report(state);
  const bool of_classes = report.score == ConformalScore::lac || report.score == ConformalScore::aps ||
                          report.score == ConformalScore::raps;
  if (of_classes != (input.task == Task::classify)) bad_conformal("'score' is not one of this task");
  const auto loaded = [&](auto rule) {
    auto fitted = std::make_shared<Conformal>(std::move(report), input.classes, std::move(rule));
    fitted->loaded_ = true;
    return fitted;
  };
  if (report.method == ConformalMethod::jackknife) return loaded(take_jackknife(state, input));
  if (report.method == ConformalMethod::weighted) return loaded(take_weighted(state));
  const auto quantile = state.info.find("quantile");
  const bool infinite = quantile != state.info.end() && *quantile == "inf";
  const Fixed rule{infinite ? std::numeric_limits<double>::infinity() : state.number("quantile")};
  report.everything = !infinite && report.holds_everything(rule.quantile);
  return loaded(rule);
}

}  // namespace ecotone
