#include "ecotone/methods/sums/row_sums.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/alignment/summed_groups.h"
#include "ecotone/solve/moments/moved_moments.h"

namespace ecotone {
namespace {

/// The rows of each class, by domain, in one pass.
std::vector<Moments> gather_classes(const TrainView& view, const Features& x, const Vector& zero,
                                    const Context& context) {
  const Index classes = std::ssize(view.y.classes);
  std::vector<std::int32_t> group;
  for (Index i = 0; i < view.labelled(); ++i)
    group.push_back(static_cast<std::int32_t>(view.domain.index[at(i)] * classes + view.y.index[at(i)]));
  std::vector<std::string> names(view.domain.names.size() * at(classes));
  const Moments all =
      gather_moments({x, group, std::move(names), zero, Vector(), view.origin}, GramKind::none, context);
  std::vector<Moments> result;
  for (Index c = 0; c < classes; ++c) {
    std::vector<Index> groups;
    std::vector<std::string> domains;
    for (Index d = 0; d < view.domain.count(); ++d) {
      if (all.rows[d * classes + c] == 0) continue;
      groups.push_back(d * classes + c);
      domains.push_back(view.domain.names[at(d)]);
    }
    result.push_back(sums_of_class(all.features, std::move(domains), all.rows(groups), all.x1(groups, Eigen::all)));
  }
  return result;
}

/// Of no rows.
Moments no_moments(const std::vector<std::string>& features) {
  return sums_of_class(features, {}, Vector(), Matrix(0, std::ssize(features)));
}

/// Gives the sums these classes, of which they have some.
void set_classes(RowSums& sums, std::vector<std::string> classes) {
  std::vector<Moments> of_class;
  for (const std::string& name : classes) {
    const auto found = std::ranges::find(sums.classes, name);
    of_class.push_back(found == sums.classes.end() ? no_moments(sums.moments.features)
                                                   : std::move(sums.of_class[at(found - sums.classes.begin())]));
  }
  sums.classes = std::move(classes);
  sums.of_class = std::move(of_class);
}

template <class Map>
RowSums mapped(const RowSums& sums, const Map& map) {
  RowSums result{sums.task, sums.classes, map(sums.moments), {}, {}, sums.row_cols};
  for (const Moments& own : sums.of_class) result.of_class.push_back(map(own));
  if (sums.has_targets()) result.targets = map(sums.targets);
  return result;
}

/// Either may have no groups at all.
void merge_groups(Moments& into, const Moments& other) {
  if (into.group_count() == 0)
    into = other;
  else if (other.group_count() > 0)
    into.merge(other);
}

/// Source rows come first; all rows are where none is of a target.
Index source_rows(const TrainView& view) {
  if (!view.has_target()) return view.x.rows();
  return std::ranges::count_if(view.domain.index, [&](std::int32_t d) { return view.role[at(d)] != Role::target; });
}

Domains domains_between(const TrainView& view, Index first, Index last) {
  std::vector<Index> rows(at(last - first));
  std::iota(rows.begin(), rows.end(), first);
  return view.domain.take(rows);
}

}  // namespace

Moments sums_of_class(std::vector<std::string> features, std::vector<std::string> domains, Vector rows, Matrix x1) {
  Moments result;
  result.features = std::move(features);
  result.groups = std::move(domains);
  result.labelled.assign(result.groups.size(), 1);
  result.weight = rows;
  result.y1 = result.yy = Vector::Zero(rows.size());
  result.xy = result.xx = Matrix::Zero(x1.rows(), x1.cols());
  result.rows = std::move(rows);
  result.x1 = std::move(x1);
  return result;
}

void RowSums::merge(const RowSums& other) {
  if (rows() > 0 && other.rows() > 0 && other.task != task)
    data_error("different_sums", "sums: labels are classes in one part and numbers in another");
  if (rows() == 0) task = other.task;
  if (other.row_cols != row_cols || other.moments.features != moments.features)
    data_error("different_sums", "sums: the columns of the parts differ");
  std::vector<std::string> all = classes;
  for (const std::string& name : other.classes)
    if (std::ranges::find(all, name) == all.end()) all.push_back(name);
  sort_classes(all);
  set_classes(*this, std::move(all));
  merge_groups(moments, other.moments);
  merge_groups(targets, other.targets);
  for (const std::string& name : targets.groups)
    if (std::ranges::find(moments.groups, name) != moments.groups.end())
      data_error("different_sums", "sums: domain '{}' is a target in one part and has labels in another", name);
  for (std::size_t c = 0; c < other.classes.size(); ++c)
    of_class[at(std::ranges::find(classes, other.classes[c]) - classes.begin())].merge(other.of_class[c]);
}

RowSums gather_sums(const TrainView& view, const Context& context) {
  const Index sources = source_rows(view);
  const bool labelled = view.labelled() > 0;
  const Features x = view.x.head(sources);
  const Domains domain = domains_between(view, 0, sources);
  const Vector zero = Vector::Zero(sources);
  const bool numbers = labelled && view.y.task == Task::regress;
  if (numbers) require_finite_labels("sums", view.y);
  const auto sums_of = [&](const Features& rows, const Domains& of, const Vector& y, const Origin& origin) {
    return gather_moments({rows, of.index, of.names, y, Vector(), origin}, GramKind::double_precision, context);
  };
  RowSums sums;
  sums.task = view.y.task;
  sums.row_cols = view.x.cols();
  sums.moments =
      sources > 0 ? sums_of(x, domain, numbers ? view.y.value : zero, view.origin) : no_moments(view.x.names());
  if (sources < view.x.rows()) {
    std::vector<Index> rows(at(view.x.rows() - sources));
    std::iota(rows.begin(), rows.end(), sources);
    sums.targets = sums_of(view.x.take(rows), domains_between(view, sources, view.x.rows()),
                           Vector::Zero(std::ssize(rows)), take_origin(view.origin, rows));
  }
  if (view.y.task != Task::classify) return sums;
  sums.classes = view.y.classes;
  sums.of_class = gather_classes(view, x, zero, context);
  return sums;
}

Moments signed_moments(std::string_view who, const RowSums& sums) {
  Moments result = sums.moments;
  if (sums.task == Task::regress) {
    const double weight = result.weight.sum(), mean = result.y1.sum() / weight;
    if (result.yy.sum() / weight - mean * mean <= 1e-14 * result.yy.sum() / weight)
      data_error("one_class", "{}: all labels are about {:g}, so there is nothing to learn", who, mean);
    return result;
  }
  if (sums.classes.size() < 2)
    data_error("one_class", "{}: all labels are '{}', so there is nothing to learn", who,
               sums.classes.empty() ? "" : sums.classes.front());
  if (sums.classes.size() > 2)
    data_error("needs_two_classes",
               "{}: from sums it learns two classes or numbers, and the labels have {} classes ({}); keep two with "
               "--where",
               who, sums.classes.size(), fmt::join(sums.classes, ", "));
  result.classes = sums.classes;
  // y = +1 for the second class: sum w y = 2 sum over it of w, less sum w; sum w y^2 = sum w.
  result.yy = result.weight;
  result.y1 = -result.weight;
  result.xy = -result.x1;
  const Moments& second = sums.of_class[1];
  for (Index g = 0; g < second.group_count(); ++g) {
    const Index own = std::ranges::find(result.groups, second.groups[at(g)]) - result.groups.begin();
    result.y1[own] += 2 * second.weight[g];
    result.xy.row(own) += 2 * second.x1.row(g);
  }
  return result;
}

RowSums shifted_sums(const RowSums& sums, const std::vector<std::string>& domains,
                     const std::vector<GroupShift>& shifts, const Context& context) {
  return mapped(sums, [&](const Moments& own) { return shifted_moments(own, domains, shifts, context); });
}

RowSums moved_sums(const RowSums& sums, ConstVectorView centre, ConstVectorView factor, const Context& context) {
  return mapped(sums, [&](const Moments& own) { return moved_moments(own, centre, factor, context); });
}

RowSums taken_sums(const RowSums& sums, std::span<const Index> columns, const std::vector<std::string>& names) {
  return mapped(sums, [&](const Moments& own) { return taken_moments(own, columns, names); });
}

RowSums projected_sums(const RowSums& sums, const Matrix& b, const std::vector<std::string>& names,
                       const Context& context) {
  return mapped(sums, [&](const Moments& own) { return projected_moments(own, b, names, context); });
}

}  // namespace ecotone
