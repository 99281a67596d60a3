#include "ecotone/methods/domain_places.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/data/storage/domain_storage.h"

namespace ecotone {
namespace {

constexpr double wide_shares = 0.25;
constexpr double fewest_for_shares = 20;  // rows of a domain

/// The largest difference of the share of one class between two source domains.
struct ShareSpread {
  std::size_t cls = 0;
  double low = 0;
  double high = 0;
};

ShareSpread share_spread(const Matrix& counts) {
  ShareSpread widest;
  for (Index c = 0; c < counts.cols(); ++c) {
    const Vector share = counts.col(c).cwiseQuotient(counts.rowwise().sum());
    const double low = share.minCoeff(), high = share.maxCoeff();
    if (high - low > widest.high - widest.low) widest = {at(c), low, high};
  }
  return widest;
}

}  // namespace

std::vector<std::int32_t> PlacedRows::among_fresh() const {
  std::vector<std::int32_t> found;
  found.reserve(place.size());
  for (const std::int32_t each : place) found.push_back(each < known ? -1 : each - static_cast<std::int32_t>(known));
  return found;
}

PlacedRows place_rows(const Batch& batch, const std::vector<std::string>& known) {
  PlacedRows placed;
  placed.known = std::ssize(known);
  if (!batch.domain) {
    placed.place.assign(at(batch.x.rows()), static_cast<std::int32_t>(placed.known));
    placed.fresh = {"the file"};
    return placed;
  }
  std::unordered_map<std::string, std::int32_t> number;
  for (std::size_t i = 0; i < known.size(); ++i) number.emplace(known[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> of_domain;
  for (const std::string& name : batch.domain->names) {
    const auto next = static_cast<std::int32_t>(placed.domains());
    const auto found = number.emplace(name, next);
    if (found.second) placed.fresh.push_back(name);
    of_domain.push_back(found.first->second);
  }
  placed.place.reserve(batch.domain->index.size());
  for (const std::int32_t d : batch.domain->index) placed.place.push_back(of_domain[at(d)]);
  return placed;
}

Features map_by_place(const Features& x, std::vector<std::int32_t> place, Index cols, std::vector<std::string> names,
                      PlacedMap map, const Context& context) {
  const auto storage =
      std::make_shared<const DomainStorage>(x.shared_storage(), std::move(place), cols, std::move(map));
  const std::size_t bytes = static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(cols) * sizeof(double);
  if (!x.storage().resident() || !fits_in_memory(2 * bytes)) return {storage, std::move(names)};
  Matrix z(x.rows(), cols);
  const Index step = storage->block_rows();
  context.parallel((x.rows() + step - 1) / step, [&](Index b) {
    Scratch scratch;
    const RowBlock block = storage->block(b, scratch);
    z.middleRows(block.first, block.x.rows()) = block.x;
  });
  return Features::dense(std::move(z), std::move(names));
}

Vector weights_of_all(const TrainView& view) {
  if (view.weight.size() == 0) return {};
  Vector all = Vector::Ones(view.x.rows());
  all.head(view.weight.size()) = view.weight;
  return all;
}

void warn_of_few_targets(const char* who, Index targets, Index cols, const char* what, const Context& context) {
  if (targets > cols) return;
  context.warn("few_target_rows",
               "{}: the target has {} row{}, fewer than the {} that {} column{} need; {} onto so few", who, targets,
               targets == 1 ? "" : "s", cols + 1, cols, cols == 1 ? "" : "s", what);
}

void tell_class_shares(const char* who, const Matrix& counts, const std::vector<std::string>& classes,
                       const Context& context) {
  std::vector<Index> large;
  for (Index d = 0; d < counts.rows(); ++d)
    if (counts.row(d).sum() >= fewest_for_shares) large.push_back(d);
  if (large.size() < 2) return;
  const ShareSpread found = share_spread(counts(large, Eigen::all));
  const double apart = found.high - found.low;
  if (apart == 0) return;
  const std::string text = fmt::format(
      "{}: class '{}' is {:.0f}% to {:.0f}% of the rows of the source domains{}; matching the domains takes such "
      "differences away, so rows are ranked, but wrong numbers of them may be predicted",
      who, classes[found.cls], 100 * found.low, 100 * found.high,
      std::ssize(large) < counts.rows() ? fmt::format(" with {:g} rows or more", fewest_for_shares) : "");
  if (apart > wide_shares)
    context.warn("class_shares_differ", "{}", text);
  else
    context.note("{}", text);
}

void tell_class_shares(const char* who, const TrainView& view, const Context& context) {
  if (view.y.task != Task::classify || view.labelled() == 0) return;
  Matrix counts = Matrix::Zero(view.domain.count(), std::ssize(view.y.classes));
  for (Index i = 0; i < view.labelled(); ++i) counts(view.domain.index[at(i)], view.y.index[at(i)]) += 1;
  std::vector<Index> sources;
  for (Index d = 0; d < counts.rows(); ++d)
    if (counts.row(d).sum() > 0) sources.push_back(d);
  tell_class_shares(who, counts(sources, Eigen::all), view.y.classes, context);
}

void save_domain_names(const std::vector<std::string>& names, StageState& state) { state.info["domains"] = names; }

std::vector<std::string> load_domain_names(const StageState& state) {
  const auto found = state.info.find("domains");
  if (found == state.info.end() || !found->is_array() || found->empty())
    file_error("bad_model", "'domains' must be a list of names");
  std::vector<std::string> names;
  for (const Json& each : *found) {
    if (!each.is_string()) file_error("bad_model", "'domains' must be a list of names");
    names.push_back(each.get<std::string>());
  }
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    file_error("bad_model", "'domains' has a name twice");
  return names;
}

}  // namespace ecotone
