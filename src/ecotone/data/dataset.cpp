#include "ecotone/data/dataset.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/row_weight.h"
#include "ecotone/data/storage/subset_storage.h"

namespace ecotone {

namespace {

/// The number that the whole text spells, if it is a finite number.
std::optional<double> number(const std::string& text) {
  double value = 0;
  if (!parse_number(text, value) || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<Index> sorted(std::span<const Index> rows) {
  std::vector<Index> result(rows.begin(), rows.end());
  if (!std::is_sorted(result.begin(), result.end())) std::sort(result.begin(), result.end());
  return result;
}

/// Weights of these rows, checked.
Vector checked_weights(const Dataset& data, std::span<const Index> rows) {
  if (data.weight.size() == 0) return {};
  Vector weight(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double w = data.weight[rows[i]];
    require_weight(w, data.schema.weight, origin_of(data.origin, rows[i]));
    weight[static_cast<Index>(i)] = w;
  }
  return weight;
}

/// A pair of a source domain and another one is not a source row: its label reveals something about the other domain.
std::vector<Index> rows_with_role(const Dataset& data, Role role) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    const std::int32_t partner = data.domain.partner_of(i);
    if (role == Role::source && partner >= 0 && data.role[at(partner)] != Role::source) continue;
    if (data.role_of(i) == role) rows.push_back(i);
  }
  return rows;
}

}  // namespace

const char* role_name(Role role) {
  switch (role) {
    case Role::source:
      return "source";
    case Role::target:
      return "target";
    case Role::unseen:
      break;
  }
  return "unseen";
}

Origin take_origin(const Origin& origin, std::span<const Index> rows) {
  std::size_t same = 0;
  while (same < rows.size() && origin_of(origin, rows[same]) == static_cast<Index>(same)) ++same;
  if (same == rows.size()) return {};
  Origin result;
  result.reserve(rows.size());
  for (const Index row : rows) result.push_back(origin_of(origin, row));
  return result;
}

Groups take_groups(const Groups& groups, std::span<const Index> rows) {
  Groups result;
  if (groups.empty()) return result;
  result.reserve(rows.size());
  for (const Index row : rows) result.push_back(groups[at(row)]);
  return result;
}

bool Labels::missing(Index row) const { return task == Task::classify ? index[at(row)] < 0 : std::isnan(value[row]); }

Labels Labels::take(std::span<const Index> rows) const {
  Labels result{task, classes, {}, {}};
  if (task == Task::classify) {
    result.index.reserve(rows.size());
    for (const Index row : rows) result.index.push_back(index[at(row)]);
  } else {
    result.value.resize(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) result.value[static_cast<Index>(i)] = value[rows[i]];
  }
  return result;
}

std::vector<Index> Domains::sizes() const {
  std::vector<Index> rows(names.size(), 0);
  for (const std::int32_t domain : index) ++rows[at(domain)];
  return rows;
}

std::vector<Index> Domains::rows_of(Index domain) const {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < index.size(); ++i)
    if (index[i] == domain) rows.push_back(static_cast<Index>(i));
  return rows;
}

Domains Domains::take(std::span<const Index> rows) const {
  Domains result;
  result.index.reserve(rows.size());
  std::vector<std::int32_t> renumbered(names.size(), -1);
  for (const Index row : rows) {
    const auto old = at(index[at(row)]);
    if (renumbered[old] < 0) {
      renumbered[old] = static_cast<std::int32_t>(result.names.size());
      result.names.push_back(names[old]);
    }
    result.index.push_back(renumbered[old]);
  }
  if (partner.empty()) return result;
  for (const Index row : rows) {
    const std::int32_t other = partner_of(row);
    result.partner.push_back(other < 0 ? -1 : renumbered[at(other)]);
  }
  return result;
}

std::vector<std::string> Dataset::target_names() const {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < domain.names.size(); ++d)
    if (role[d] == Role::target) names.push_back(domain.names[d]);
  return names;
}

std::vector<Column> Dataset::table_columns() const {
  if (schema.feature_names() == x.names()) return schema.columns;
  std::vector<Column> columns;
  for (const std::string& name : x.names()) columns.push_back({name, ColumnKind::numeric, {}});
  return columns;
}

TrainView train_view(const Dataset& data, std::span<const Index> source, std::span<const Index> target,
                     const Context& context) {
  context.check_cancelled();
  std::vector<Index> rows = sorted(source);
  if (data.y) {
    std::erase_if(rows, [&](Index row) { return data.y->missing(row); });
    if (rows.empty() && !source.empty())
      data_error("no_labels", "fit: none of the {} source rows has a label", source.size());
  }

  TrainView view;
  if (data.y) {
    view.y = data.y->take(rows);
    drop_unused_classes(view.y);
    view.weight = checked_weights(data, rows);
  } else {
    view.y.task = Task::regress;
  }

  const std::size_t sources = rows.size();
  const std::vector<Index> further = sorted(target);
  rows.insert(rows.end(), further.begin(), further.end());
  view.x = take_rows(data.x, rows, context);
  view.domain = data.domain.take(rows);
  view.origin = take_origin(data.origin, rows);
  view.group = take_groups(data.group, rows);
  view.role.assign(view.domain.names.size(), Role::target);
  for (std::size_t i = 0; i < sources; ++i) view.role[at(view.domain.index[i])] = Role::source;
  return view;
}

TrainView train_view(const Dataset& data, const Context& context) {
  const std::vector<Index> source = rows_with_role(data, Role::source);
  if (data.y) {
    const auto unlabelled = std::ranges::count_if(source, [&](Index row) { return data.y->missing(row); });
    if (unlabelled > 0)
      context.note("{} without a label {} left out",
                   unlabelled == 1 ? "1 source row" : fmt::format("{} source rows", unlabelled),
                   unlabelled == 1 ? "is" : "are");
  }
  return train_view(data, source, rows_with_role(data, Role::target), context);
}

Batch batch(const Dataset& data, std::span<const Index> rows) {
  return {data.x.take(rows), data.domain.take(rows), take_origin(data.origin, rows)};
}

std::vector<Index> spread_over(const std::vector<Index>& rows, Index most) {
  const auto size = static_cast<Index>(rows.size());
  if (size <= most) return rows;
  std::vector<Index> chosen;
  chosen.reserve(at(most));
  for (Index i = 0; i < most; ++i) chosen.push_back(rows[at(i * size / most)]);
  return chosen;
}

void drop_unused_classes(Labels& labels) {
  std::vector<std::int32_t> renumbered(labels.classes.size(), -1);
  for (const std::int32_t c : labels.index)
    if (c >= 0) renumbered[at(c)] = 0;
  std::vector<std::string> used;
  for (std::size_t c = 0; c < renumbered.size(); ++c) {
    if (renumbered[c] < 0) continue;
    renumbered[c] = static_cast<std::int32_t>(used.size());
    used.push_back(labels.classes[c]);
  }
  for (std::int32_t& c : labels.index)
    if (c >= 0) c = renumbered[at(c)];
  labels.classes = std::move(used);
}

void sort_classes(std::vector<std::string>& classes) {
  std::sort(classes.begin(), classes.end());
  if (!std::ranges::all_of(classes, [](const std::string& c) { return number(c).has_value(); })) return;
  // Equal numbers ("1", "1.0") stay in text order.
  std::ranges::stable_sort(classes, {}, [](const std::string& c) { return *number(c); });
}

void set_targets(Dataset& data, const std::vector<std::string>& targets) {
  Roles role(data.domain.names.size(), Role::source);
  for (const std::string& name : targets) {
    const auto it = std::ranges::find(data.domain.names, name);
    if (it == data.domain.names.end())
      data_error("unknown_domain", "no domain '{}'; the domains are {}", name, fmt::join(data.domain.names, ", "));
    role[at(it - data.domain.names.begin())] = Role::target;
  }
  data.role = std::move(role);
}

}  // namespace ecotone
