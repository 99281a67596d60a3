#include "ecotone/methods/method.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ecotone {

std::string_view family_name(Family family) {
  switch (family) {
    case Family::prepare:
      return "prepare";
    case Family::represent:
      return "represent";
    case Family::select:
      return "select";
    case Family::weight:
      return "weight";
    case Family::learn:
      return "learn";
    case Family::adapt:
      return "adapt";
  }
  internal_error("family {} has no name", static_cast<int>(family));
}

namespace {

struct RouteInfo {
  Route route;
  std::string_view name, text;
};

constexpr RouteInfo route_infos[] = {
    {Route::memory, "memory", "with its rows in memory"},
    {Route::streamed, "streamed",
     "with its rows in a file (.eco, or CSV with --stream): memory is for blocks of rows and a few numbers per row"},
    {Route::ranks, "ranks", "with its work shared by several processes (`mpirun -n 4 ecotone fit`)"},
    {Route::sums, "sums", "from sums over rows, where the rows may not be collected (`ecotone partial`)"},
};

const RouteInfo& info_of_route(Route route) {
  for (const RouteInfo& info : route_infos)
    if (info.route == route) return info;
  internal_error("route {} has no name", static_cast<int>(route));
}

}  // namespace

std::string_view route_name(Route route) { return info_of_route(route).name; }
std::string_view route_text(Route route) { return info_of_route(route).text; }

std::optional<PlainForm> Method::plain_form() const {
  if (plain) return plain;
  const bool corrects = family == Family::adapt && follows_learner();
  if (needs_target || corrects) return PlainForm{};
  return std::nullopt;
}

std::vector<MethodRoute> Method::all_routes() const {
  std::vector<MethodRoute> all = {{Route::memory}};
  all.insert(all.end(), routes.begin(), routes.end());
  if (from_sums()) all.push_back({Route::sums, sums.options});
  return all;
}

Matrix decision_scores(const Prediction& prediction) {
  if (prediction.score.size() > 0) return prediction.score;
  // A probability of 0 or 1 has no finite logarithm. By single values, so that a row does not depend on its place.
  const Matrix log_p = prediction.probability.unaryExpr([](double p) { return std::log(std::max(p, 1e-300)); });
  return log_p.cols() == 2 ? Matrix(log_p.col(1) - log_p.col(0)) : log_p;
}

namespace {

std::string shape_text(const std::vector<Index>& shape) {
  std::string text;
  for (const Index size : shape)
    text += fmt::format("{}{}", text.empty() ? "" : " x ", size == -1 ? "any" : fmt::to_string(size));
  return text;
}

/// The array of this name once its shape and numbers are checked.
const StageState::Array& checked(const StageState& state, const std::string& name, const std::vector<Index>& shape) {
  const auto found = state.arrays().find(name);
  if (found == state.arrays().end()) file_error("bad_model", "array '{}' is missing", name);
  const StageState::Array& array = found->second;
  const bool fits = std::equal(shape.begin(), shape.end(), array.shape.begin(), array.shape.end(),
                               [](Index wanted, Index is) { return wanted == -1 || wanted == is; });
  if (!fits) {
    file_error("bad_model", "array '{}' must be {}, is {}", name, shape_text(shape), shape_text(array.shape));
  }
  for (const double value : array.values) {
    if (!std::isfinite(value)) file_error("bad_model", "array '{}' holds a non-finite value", name);
  }
  return array;
}

const Json& checked_info(const Json& info, const std::string& name) {
  const auto found = info.find(name);
  if (found == info.end()) file_error("bad_model", "'{}' is missing", name);
  return *found;
}

}  // namespace

void StageState::set(const std::string& name, const Matrix& value) {
  set(name, Array{{value.rows(), value.cols()}, {value.data(), value.data() + value.size()}});
}

void StageState::set(const std::string& name, const std::vector<double>& value) {
  arrays_[name] = {{std::ssize(value)}, value};
}

void StageState::set(const std::string& name, const Vector& value) {
  set(name, Array{{value.size()}, {value.data(), value.data() + value.size()}});
}

Matrix StageState::matrix(const std::string& name, Index rows, Index cols) const {
  const Array& array = checked(*this, name, {rows, cols});
  return Eigen::Map<const Matrix>(array.values.data(), array.shape[0], array.shape[1]);
}

Vector StageState::vector(const std::string& name, Index size) const {
  const Array& array = checked(*this, name, {size});
  return Eigen::Map<const Vector>(array.values.data(), array.shape[0]);
}

std::optional<double> StageState::number_or_null(const std::string& name) const {
  const auto found = info.find(name);
  if (found != info.end() && found->is_null()) return std::nullopt;
  return number(name);
}

double StageState::number(const std::string& name) const {
  const Json& value = checked_info(info, name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) file_error("bad_model", "'{}' must be a number", name);
  return value.get<double>();
}

bool StageState::flag(const std::string& name) const {
  const Json& value = checked_info(info, name);
  if (!value.is_boolean()) file_error("bad_model", "'{}' must be true or false", name);
  return value.get<bool>();
}

Index StageState::count(const std::string& name) const {
  const Json& value = checked_info(info, name);
  if (!value.is_number_integer() || value.get<double>() < 0 || value.get<double>() > 1e15) {
    file_error("bad_model", "'{}' must be a non-negative whole number", name);
  }
  return value.get<Index>();
}

std::string StageState::text(const std::string& name) const {
  const Json& value = checked_info(info, name);
  if (!value.is_string()) file_error("bad_model", "'{}' must be text", name);
  return value.get<std::string>();
}

Features Fitted::transform(const Batch& batch, const Context&) const { return batch.x; }

Matrix Fitted::contributions(const Batch&, const Context&) const { return {}; }

std::shared_ptr<const Fitted> Fitted::refitted(const TrainView&, double, const Context&) const { return nullptr; }

Prediction Fitted::predict(const Batch&, const Context&) const {
  internal_error("a stage that does not predict was asked to");
}

Prediction Fitted::revised(Prediction, const Batch&, const Context&) const {
  internal_error("a stage that does not revise predictions was asked to");
}

Features fitting_rows(const TrainView& view) { return view.labelled() > 0 ? view.labelled_x() : view.x; }

StageResult pass_on(std::shared_ptr<const Fitted> fitted, TrainView view, const Context& context, Status status) {
  view.x = fitted->transform(Batch{view.x, view.domain, view.origin}, context);
  view.kernel_coordinates = false;
  view.categories.clear();
  return {std::move(fitted), std::move(view), std::move(status)};
}

}  // namespace ecotone
