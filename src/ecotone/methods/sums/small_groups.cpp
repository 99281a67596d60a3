#include "ecotone/methods/sums/small_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"

namespace ecotone {
namespace {

/// `of`: the class that the rows are of, in words; empty: all rows.
void require_many_rows(const Moments& moments, const std::string& of, int min_rows) {
  for (Index g = 0; g < moments.group_count(); ++g)
    if (moments.rows[g] < min_rows)
      data_error("small_domain",
                 "partial: domain '{}' has {} row{}{}, and sums of fewer than {} come close to the rows themselves; "
                 "leave it out with --where, or lower --min-rows",
                 moments.groups[at(g)], moments.rows[g], moments.rows[g] == 1 ? "" : "s", of, min_rows);
}

/// The values of a column in a domain and how many rows have them, as long as there are no more than two.
struct TwoValues {
  double first = 0, second = 0;
  Index firsts = 0, seconds = 0;
  bool more = false;

  void add(double value, Index rows) {
    if (rows == 0 || more) return;
    if (firsts == 0 || value == first) {
      first = value;
      firsts += rows;
    } else if (seconds == 0 || value == second) {
      second = value;
      seconds += rows;
    } else {
      more = true;
    }
  }
  void merge(const TwoValues& other) {
    add(other.first, other.firsts);
    add(other.second, other.seconds);
    more = more || other.more;
  }
  bool two() const { return !more && seconds > 0; }
  double rarer() const { return seconds < firsts ? second : first; }
  double other() const { return seconds < firsts ? first : second; }
  Index rows() const { return std::min(firsts, seconds); }
  template <class Archive>
  void archive(Archive& with) {
    with(first, second, firsts, seconds, more);
  }
};

/// Those of all columns in all domains, domain by domain.
struct ColumnValues {
  std::vector<TwoValues> of;

  void merge(const ColumnValues& other) {
    for (std::size_t i = 0; i < of.size(); ++i) of[i].merge(other.of[i]);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(of);
  }
};

ColumnValues column_values(const TrainView& view, const Context& context) {
  const Index cols = view.x.cols();
  const ColumnValues none{std::vector<TwoValues>(at(view.domain.count() * cols))};
  return sum_rows(view.x.blocks(), context, none, [&](ColumnValues& values, Index b) {
    Scratch scratch;
    const RowBlock block = view.x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      TwoValues* own = &values.of[at(view.domain.index[at(block.first + i)] * cols)];
      for (Index j = 0; j < cols; ++j) own[j].add(block.x(i, j), 1);
    }
  });
}

/// Those of the labels, by domain.
std::vector<TwoValues> label_values(const TrainView& view) {
  std::vector<TwoValues> values(at(view.domain.count()));
  if (view.y.task == Task::regress)
    for (Index i = 0; i < view.labelled(); ++i) values[at(view.domain.index[at(i)])].add(view.y.value[i], 1);
  return values;
}

/// What the rows of the rarer value have in common: "1 in column 'ill' and all others have 0".
std::string in_words(const TwoValues& values, const TrainView& view, const Schema& schema, bool behind, Index j) {
  if (!behind) {
    const std::vector<std::size_t> first = schema.first_features();
    const auto next = std::ranges::upper_bound(first, static_cast<std::size_t>(j));
    const auto k = static_cast<std::size_t>(next - first.begin()) - 1;
    if (k < schema.columns.size() && schema.columns[k].one_hot())
      return fmt::format("{} category '{}' in column '{}'", values.rarer() == 0 ? "another than" : "the",
                         schema.columns[k].levels[static_cast<std::size_t>(j) - first[k]], schema.columns[k].name);
  }
  return fmt::format("{:g} in column '{}' and all others {:g}", values.rarer(), view.x.name(j), values.other());
}

[[noreturn]] void refuse_rare(const TwoValues& values, const std::string& domain, const std::string& what,
                              std::string_view advice, int min_rows) {
  data_error("small_category",
             "partial: in domain '{}' {} {} {}, and sums over fewer than {} rows come close to the rows themselves; "
             "{}, or lower --min-rows",
             domain, values.rows(), values.rows() == 1 ? "row has" : "rows have", what, min_rows, advice);
}

}  // namespace

void require_many_rows(const RowSums& sums, int min_rows) {
  require_many_rows(sums.moments, "", min_rows);
  require_many_rows(sums.targets, "", min_rows);
  for (std::size_t c = 0; c < sums.classes.size(); ++c)
    require_many_rows(sums.of_class[c], fmt::format(" of class '{}'", sums.classes[c]), min_rows);
}

Index require_common_values(const TrainView& view, const Schema& schema, bool behind, int min_rows,
                            const Context& context) {
  const ColumnValues values = column_values(view, context);
  Index rarest = view.x.rows();
  for (Index d = 0; d < view.domain.count(); ++d)
    for (Index j = 0; j < view.x.cols(); ++j) {
      const TwoValues& own = values.of[at(d * view.x.cols() + j)];
      if (!own.two()) continue;
      rarest = std::min(rarest, own.rows());
      if (own.rows() >= min_rows) continue;
      refuse_rare(
          own, view.domain.names[at(d)], in_words(own, view, schema, behind, j),
          behind ? "leave the column out of the model that --behind names" : "leave the column out with --ignore",
          min_rows);
    }
  return rarest;
}

Index require_common_labels(const TrainView& view, int min_rows) {
  const std::vector<TwoValues> values = label_values(view);
  Index rarest = view.x.rows();
  for (Index d = 0; d < view.domain.count(); ++d) {
    const TwoValues& own = values[at(d)];
    if (!own.two()) continue;
    rarest = std::min(rarest, own.rows());
    if (own.rows() < min_rows)
      refuse_rare(own, view.domain.names[at(d)],
                  fmt::format("the label {:g} and all others {:g}", own.rarer(), own.other()),
                  "leave the domain out with --where", min_rows);
  }
  return rarest;
}

void warn_of_small_domains(const RowSums& sums, const Context& context) {
  Index few = 0;
  std::string example;
  for (const Moments* moments : {&sums.moments, &sums.targets})
    for (Index g = 0; g < moments->group_count(); ++g)
      if (moments->rows[g] < static_cast<double>(sums.cols()) && few++ == 0)
        example = fmt::format("'{}' has {:g}", moments->groups[at(g)], moments->rows[g]);
  if (few > 0)
    context.warn("few_rows",
                 "partial: {} of {} domains have fewer rows than the {} columns that are summed ({}), so the products "
                 "of columns say much about their rows; use fewer columns",
                 few, sums.moments.group_count() + sums.targets.group_count(), sums.cols(), example);
}

}  // namespace ecotone
