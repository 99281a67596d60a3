#include "ecotone/methods/sums/parts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/methods/sums/alike_parts.h"
#include "ecotone/methods/sums/lost_digits.h"
#include "ecotone/methods/sums/small_groups.h"
#include "ecotone/methods/sums/sums_route.h"

namespace ecotone {
namespace {

std::string short_id(const SumsPart& part) { return part.id().substr(0, 8); }

/// A site may have rows of the target alone; labels are then those of the others.
void require_labels(const Pipeline& pipeline, const TrainView& view) {
  const bool has_sources = std::ranges::find(view.role, Role::source) != view.role.end();
  for (const Stage& stage : pipeline.stages())
    if (view.labelled() == 0 && has_sources && (stage.method->needs_labels() || stage.method->predicts()))
      data_error("no_labels", "{}: there are no labels to learn from; name their column with --label",
                 stage.method->name);
}

/// What `finish` would refuse after all sites have done their work.
void require_learnable(const Pipeline& pipeline, const RowSums& sums) {
  for (const Stage& stage : pipeline.stages()) {
    const Method& method = *stage.method;
    if (method.combines_classes() && sums.classes.size() > 2)
      data_error(
          "needs_two_classes",
          "{}: from sums it learns two classes or numbers, and the labels have {} classes; keep two with --where",
          method.name, sums.classes.size());
    if (method.regression_only() && sums.rows() > 0 && sums.task != Task::regress)
      data_error("needs_numbers", "{}: the label is a class, not a number to predict; use --task regress", method.name);
  }
}

/// Whether more is learned than means and scales, which many digits do not matter to.
bool has_products(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.stages(), [](const Stage& stage) { return stage.method->name != "scale"; });
}

/// What sums do not keep.
void require_plain(const Pipeline& pipeline, const Dataset& data) {
  if (data.weight.size() > 0)
    option_error("weighted_sums",
                 "partial: sums have no row weights; leave --weight out, or use fit where the rows are");
  if (!data.group.empty())
    option_error("idle_flag", "partial: sums know no groups of rows; leave --group out, or use fit where the rows are");
  for (const Stage& stage : pipeline.stages())
    if (data.has_target() && !stage.method->sums.beside_targets)
      option_error("needs_rows",
                   "partial: from sums {} learns of labelled domains alone; leave --target out, or use fit where the "
                   "rows are",
                   stage.method->name);
  if (data.x.is_sparse())
    data_error("sparse_sums", "partial: sparse rows are not summed; use fit where the rows are, or dense columns");
}

void require_finite(const Features& x, const Origin& origin, const Context& context) {
  const NonFinite found = find_non_finite(x, context);
  if (found.row >= 0)
    data_error(
        "non_finite",
        "partial: column '{}' is {} in row {}; fit \"impute\" or \"impute | scale\" where some rows are, and give "
        "that model with --behind",
        x.name(found.column), std::isnan(found.value) ? "not a number" : "infinite", origin_of(origin, found.row) + 1);
}

std::string_view kind_text(const Column& column) {
  if (column.kind == ColumnKind::date) return "dates";
  return column.kind == ColumnKind::categorical ? "text" : "numbers";
}

/// The columns of all parts.
class ColumnUnion {
 public:
  void add(const SumsPart& part) {
    const Schema& schema = part.schema;
    if (all_.columns.empty()) {
      all_ = schema;
      first_ = short_id(part);
      return;
    }
    const auto differ = [&](const std::string& how) {
      data_error("different_sums", "parts {} and {}: {}; `ecotone inspect` shows which file has which part", first_,
                 short_id(part), how);
    };
    if (schema.columns.size() != all_.columns.size())
      differ(fmt::format("the one has {} columns and the other {}", all_.columns.size(), schema.columns.size()));
    for (const Column& column : schema.columns) {
      const auto found = std::ranges::find(all_.columns, column.name, &Column::name);
      if (found == all_.columns.end()) differ(fmt::format("only the second has a column '{}'", column.name));
      if (found->kind != column.kind || found->coded != column.coded)
        differ(fmt::format("column '{}' holds {} in one and {} in the other", column.name, kind_text(*found),
                           kind_text(column)));
      if (found->slashes != SlashOrder::none && column.slashes != SlashOrder::none && found->slashes != column.slashes)
        differ(fmt::format("dates of column '{}' have the day first in one and the month first in the other",
                           column.name));
      if (found->slashes == SlashOrder::none) found->slashes = column.slashes;
      std::vector<std::string> levels;
      std::ranges::set_union(found->levels, column.levels, std::back_inserter(levels));
      found->levels = std::move(levels);
    }
  }

  const Schema& schema() const { return all_; }

  /// Where each feature of all parts stands among those of one; -1: a level that it does not have.
  std::vector<Index> columns_of(const Schema& schema) const {
    std::unordered_map<std::string, Index> place;
    for (const std::string& name : schema.feature_names()) place.emplace(name, std::ssize(place));
    std::vector<Index> columns;
    for (const std::string& name : all_.feature_names()) {
      const auto found = place.find(name);
      columns.push_back(found == place.end() ? -1 : found->second);
    }
    return columns;
  }

 private:
  Schema all_;
  std::string first_;  ///< the part that its columns are of
};

[[noreturn]] void refuse_different(const SumsPart& first, const SumsPart& other, std::string_view in,
                                   const std::string& a, const std::string& b) {
  data_error("different_sums", "parts {} and {} differ in {}: '{}' and '{}'; make all parts alike", short_id(first),
             short_id(other), in, a, b);
}

void require_alike(const SumsPart& first, const SumsPart& other) {
  if (other.pipeline != first.pipeline)
    refuse_different(first, other, "their pipelines", first.pipeline, other.pipeline);
  if (other.seed != first.seed)
    refuse_different(first, other, "their seeds", fmt::to_string(first.seed), fmt::to_string(other.seed));
  if (other.behind != first.behind)
    refuse_different(first, other, "the model given with --behind", first.behind, other.behind);
}

/// Of other pipelines a site may have labels of any kind, or none.
bool looks_at_labels(const SumsPart& part) {
  return std::ranges::any_of(Pipeline::parse(part.pipeline).stages(), [](const Stage& stage) {
    return stage.method->needs_labels() || stage.method->predicts();
  });
}

void require_same_task(const SumsPart& first, const SumsPart& other) {
  if (first.sums.rows() > 0 && other.sums.rows() > 0 && other.sums.task != first.sums.task)
    refuse_different(first, other, "their tasks (--task)", std::string(task_name(first.sums.task)),
                     std::string(task_name(other.sums.task)));
}

/// The sums of the rows as if they had no labels.
RowSums without_labels(RowSums sums) {
  sums.task = Task::regress;
  sums.classes.clear();
  sums.of_class.clear();
  sums.moments.y1.setZero();
  sums.moments.yy.setZero();
  sums.moments.xy.setZero();
  return sums;
}

/// The first part with labelled rows, which knows the task; else the first.
const SumsPart& labelled_of(const std::vector<SumsPart>& parts) {
  const auto found = std::ranges::find_if(parts, [](const SumsPart& part) { return part.sums.rows() > 0; });
  return found == parts.end() ? parts.front() : *found;
}

/// Whether the labels of some parts are classes and those of others numbers, or not there.
bool labels_differ(const std::vector<SumsPart>& parts) {
  const SumsPart& first = labelled_of(parts);
  return std::ranges::any_of(
      parts, [&](const SumsPart& part) { return part.sums.rows() > 0 && part.sums.task != first.sums.task; });
}

}  // namespace

std::string model_id(const Model& model) {
  const auto words = Digest().add(std::string_view(model.bytes())).words();
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

SumsPart make_part(const Pipeline& pipeline, const Dataset& data, const Model* behind, const PartOptions& options,
                   const Context& context) {
  require_sums(pipeline);
  if (behind != nullptr && behind->pipeline().predicts())
    option_error("behind_predicts", "--behind: the model \"{}\" predicts, so nothing can be learned behind it",
                 behind->pipeline().text());
  require_plain(pipeline, data);
  TrainView view = train_view(data, context);
  require_labels(pipeline, view);
  SumsPart part{pipeline.text(), context.seed(), behind != nullptr ? model_id(*behind) : "", data.schema, {}};
  if (behind != nullptr) {
    view.x = behind->transform({view.x, view.domain, view.origin}, context);
    part.schema = behind->schema();
  } else if (part.schema.columns.empty()) {
    for (const std::string& name : view.x.names()) part.schema.columns.push_back({.name = name, .levels = {}});
  }
  require_finite(view.x, view.origin, context);
  const Index cols = view.x.cols();
  const Stage& first = pipeline.stages().front();
  if (first.method->sums.drawn != nullptr) view.x = first.method->sums.drawn(view.x, first.options, context);
  part.sums = gather_sums(view, context);
  part.sums.row_cols = cols;
  part.source = options.source;
  require_learnable(pipeline, part.sums);
  require_many_rows(part.sums, options.min_rows);
  part.rarest = require_common_labels(view, options.min_rows);
  // Of drawn features there is no sum over the rows of one category; and who allows sums of single rows needs no
  // warning.
  if (first.method->sums.drawn == nullptr)
    part.rarest =
        std::min(part.rarest, require_common_values(view, part.schema, behind != nullptr, options.min_rows, context));
  if (options.min_rows > 1) warn_of_small_domains(part.sums, context);
  if (has_products(pipeline)) warn_of_lost_digits(view, context);
  return part;
}

std::vector<SumsPart> in_order(std::vector<SumsPart> parts) {
  if (parts.empty()) data_error("no_parts", "there are no sums to learn from");
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < parts.size(); ++i) order.emplace_back(parts[i].id(), i);
  std::ranges::sort(order);
  std::vector<SumsPart> result;
  ColumnUnion columns;
  const bool labels_matter = looks_at_labels(parts.front());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && order[k].first == order[k - 1].first)
      data_error("same_part", "the part {} is there twice; the same rows must not count twice",
                 order[k].first.substr(0, 8));
    result.push_back(std::move(parts[order[k].second]));
    require_alike(result.front(), result.back());
    if (labels_matter) require_same_task(labelled_of(result), result.back());
    columns.add(result.back());
  }
  return result;
}

AddedParts added(const std::vector<SumsPart>& parts, const Context& context) {
  warn_of_alike_parts(parts, context);
  ColumnUnion columns;
  for (const SumsPart& part : parts) columns.add(part);
  const Schema& all = columns.schema();
  const SumsPart& first = parts.front();
  const Index groups = (first.sums.moments.group_count() + first.sums.targets.group_count()) * std::ssize(parts);
  require_memory(3 * moments_bytes(groups, first.sums.cols(), GramKind::double_precision), "finish",
                 "the sums of all parts", "use fewer columns or a smaller rank");
  // What a model or a drawn map makes of the rows has columns of its own, which are the same everywhere.
  const bool drawn = Pipeline::parse(first.pipeline).stages().front().method->sums.drawn != nullptr;
  const bool drop_labels = labels_differ(parts);
  AddedParts result{{}, all};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    context.check_cancelled();
    RowSums own = drop_labels ? without_labels(parts[k].sums) : parts[k].sums;
    if (first.behind.empty() && !drawn) {
      own = taken_sums(own, columns.columns_of(parts[k].schema), all.feature_names());
      own.row_cols = own.cols();
    } else if (parts[k].schema.feature_names() != all.feature_names()) {
      data_error("different_sums",
                 "parts {} and {} differ in their columns or categories, and features are drawn for equal ones; give a "
                 "model with --behind that knows all of them",
                 short_id(first), short_id(parts[k]));
    }
    if (k == 0) {
      result.sums = std::move(own);
    } else {
      result.sums.merge(own);
    }
  }
  return result;
}

Model finish_parts(const std::vector<SumsPart>& parts, const Model* behind, const Context& context) {
  const SumsPart& first = parts.front();
  if (first.behind != (behind != nullptr ? model_id(*behind) : ""))
    data_error("other_model", "finish: {}",
               first.behind.empty() ? "the parts were made without --behind; leave it out"
                                    : "the rows went through another model first; give that one with --behind");
  const AddedParts all = added(parts, context);
  if (all.sums.rows() == 0)
    data_error("no_labels", "finish: all parts are of the target '{}'; add those of the other domains",
               all.sums.targets.groups.front());
  return Model::from_sums(Pipeline::parse(first.pipeline), all.sums, all.schema, behind, context.seeded(first.seed));
}

}  // namespace ecotone
