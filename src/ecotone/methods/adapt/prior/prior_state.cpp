#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/json_number.h"
#include "ecotone/methods/adapt/prior/prior.h"

namespace ecotone {
namespace {

[[noreturn]] void bad_prior(const std::string& what) { file_error("bad_model", "{}", what); }

Json target_json(const TargetShares& target) {
  Json json = {{"domain", target.domain},
               {"rows", target.rows},
               {"error_from", target.error_from},
               {"converged", target.converged},
               {"x2", json_number(target.x2)},
               {"freedom", target.freedom},
               {"p_value", json_number(target.p_value)},
               {"rank_p", json_number(target.rank_p)}};
  return json;
}

/// Shares of classes: not negative, and of sum 1.
void require_shares(const Vector& share, const char* name) {
  if (!(share.array() >= 0).all() || std::abs(share.sum() - 1) > 1e-6)
    bad_prior(fmt::format("'{}' must be shares of classes", name));
}

StageState entry_of(const Json& item, const char* list) {
  if (!item.is_object()) bad_prior(fmt::format("'{}' must be a list of objects", list));
  StageState one;
  one.info = item;
  return one;
}

const Json& list_of(const StageState& state, const char* name) {
  const auto found = state.info.find(name);
  if (found == state.info.end() || !found->is_array()) bad_prior(fmt::format("'{}' must be a list", name));
  return *found;
}

PriorReplay read_replay(const StageState& state, std::vector<std::string>& domains) {
  PriorReplay replay;
  for (const Json& item : list_of(state, "replay")) {
    const StageState one = entry_of(item, "replay");
    replay.domains.push_back({.domain = std::ssize(domains),
                              .gain = one.number("gain"),
                              .log_loss_gain = item.contains("log_loss_gain") ? one.number("log_loss_gain") : 0,
                              .distance = one.number("distance"),
                              .source_distance = one.number("source_distance")});
    domains.push_back(one.text("domain"));
  }
  replay.gain = state.number("gain");
  replay.error = state.number("gain_error");
  if (state.info.contains("log_loss_gain")) replay.log_loss_gain = state.number("log_loss_gain");
  return replay;
}

}  // namespace

StageState Prior::save() const {
  StageState state;
  state.info = {
      {"corrects", state_.corrects()}, {"reason", reason_name(state_.reason)}, {"inverse_temperature", state_.a}};
  state.set("bias", state_.bias);
  state.set("source_share", state_.source_share);
  const auto classes = state_.source_share.size();
  Matrix share(std::ssize(state_.targets), classes), weight = share, error = share;
  Json targets = Json::array();
  for (std::size_t t = 0; t < state_.targets.size(); ++t) {
    const TargetShares& target = state_.targets[t];
    targets.push_back(target_json(target));
    share.row(static_cast<Index>(t)) = target.share.transpose();
    weight.row(static_cast<Index>(t)) = target.weight.transpose();
    error.row(static_cast<Index>(t)).setConstant(-1);  // where it is not known
    if (target.standard_error.allFinite()) error.row(static_cast<Index>(t)) = target.standard_error.transpose();
  }
  state.info["targets"] = std::move(targets);
  state.set("target_share", share);
  state.set("target_weight", weight);
  state.set("target_share_error", error);
  if (!state_.replay) return state;
  state.info["gain"] = state_.replay->gain;
  state.info["gain_error"] = state_.replay->error;
  if (state_.replay->log_loss_gain) state.info["log_loss_gain"] = *state_.replay->log_loss_gain;
  Json replay = Json::array();
  for (const ReplayedDomain& each : state_.replay->domains) {
    replay.push_back({{"domain", state_.domains[at(each.domain)]},
                      {"gain", each.gain},
                      {"distance", each.distance},
                      {"source_distance", each.source_distance}});
    if (state_.replay->log_loss_gain) replay.back()["log_loss_gain"] = each.log_loss_gain;
  }
  state.info["replay"] = std::move(replay);
  return state;
}

std::shared_ptr<const Fitted> Prior::load(const StageState& state, const PriorOptions&, const StageInput& input) {
  if (input.task != Task::classify || input.classes.size() < 2) bad_prior("adapt.prior is for classes");
  const auto classes = std::ssize(input.classes);
  PriorState prior;
  const std::string reason = state.text("reason");
  bool known = false;
  for (int r = 0; r <= static_cast<int>(PriorReason::never); ++r)
    if (reason_name(static_cast<PriorReason>(r)) == reason) {
      prior.reason = static_cast<PriorReason>(r);
      known = true;
    }
  if (!known) bad_prior(fmt::format("'reason' is '{}'", reason));
  prior.a = state.number("inverse_temperature");
  prior.bias = state.vector("bias", classes);
  prior.source_share = state.vector("source_share", classes);
  require_shares(prior.source_share, "source_share");
  const Json& targets = list_of(state, "targets");
  const Matrix share = state.matrix("target_share", std::ssize(targets), classes);
  const Matrix weight = state.matrix("target_weight", std::ssize(targets), classes);
  const Matrix error = state.matrix("target_share_error", std::ssize(targets), classes);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const StageState one = entry_of(targets[t], "targets");
    const auto row = static_cast<Index>(t);
    TargetShares target{.domain = one.text("domain"),
                        .rows = one.count("rows"),
                        .share = share.row(row).transpose(),
                        .weight = weight.row(row).transpose(),
                        .standard_error = error.row(row).transpose(),
                        .error_from = one.text("error_from"),
                        .converged = one.flag("converged"),
                        .x2 = one.number_or_null("x2"),
                        .p_value = one.number_or_null("p_value"),
                        .rank_p = one.number_or_null("rank_p"),
                        .freedom = static_cast<int>(std::min<Index>(one.count("freedom"), 1'000'000))};
    require_shares(target.share, "target_share");
    if (!(target.weight.array() >= 0).all() || !(target.weight.sum() > 0))
      bad_prior("'target_weight' must not be negative");
    if ((target.standard_error.array() < 0).all()) target.standard_error.setConstant(std::nan(""));
    prior.targets.push_back(std::move(target));
  }
  if (state.info.contains("replay")) prior.replay = read_replay(state, prior.domains);
  auto fitted = std::make_shared<Prior>(std::move(prior));
  fitted->loaded_ = true;
  return fitted;
}

}  // namespace ecotone
