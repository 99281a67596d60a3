#include "ecotone/methods/sums/parts.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/digest.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/sums/sums_route.h"

namespace ecotone {
namespace {

/// The first stage of a pipeline whose features are drawn, or null.
const Stage* drawing_stage(const Pipeline& pipeline) {
  const Stage& first = pipeline.stages().front();
  return first.method->sums.drawn != nullptr ? &first : nullptr;
}

void require_domain_rows(const Moments& moments, int min_rows) {
  for (Index g = 0; g < moments.group_count(); ++g)
    if (moments.rows[g] < min_rows)
      data_error(
          "small_domain",
          "partial: domain '{}' has {} row{}, and sums of fewer than {} come close to the rows themselves; leave "
          "it out with --where, or lower --min-rows",
          moments.groups[at(g)], moments.rows[g], moments.rows[g] == 1 ? "" : "s", min_rows);
}

void require_labels(const Pipeline& pipeline, const TrainView& view) {
  for (const Stage& stage : pipeline.stages())
    if (view.labelled() == 0 && (stage.method->needs_labels() || stage.method->predicts()))
      data_error("no_labels", "{}: there are no labels to learn from; name their column with --label",
                 stage.method->name);
}

/// How a column of one part becomes one of all parts.
class ColumnUnion {
 public:
  /// Adds the columns of a part; `place` counts parts from 1.
  void add(const Schema& schema, std::size_t place) {
    if (all_.columns.empty()) {
      all_ = schema;
      return;
    }
    if (schema.columns.size() != all_.columns.size()) differ(place, "their numbers of columns");
    for (const Column& column : schema.columns) {
      const auto found = std::ranges::find(all_.columns, column.name, &Column::name);
      if (found == all_.columns.end()) differ(place, fmt::format("column '{}', which only one has", column.name));
      if (found->kind != column.kind || found->coded != column.coded)
        differ(place, fmt::format("column '{}', which is text in one and numbers in the other", column.name));
      for (const std::string& level : column.levels)
        if (std::ranges::find(found->levels, level) == found->levels.end()) found->levels.push_back(level);
      std::ranges::sort(found->levels);
    }
  }

  const Schema& schema() const { return all_; }

  /// Where each feature of all parts stands among those of one; -1: a level that it does not have.
  std::vector<Index> columns_of(const Schema& schema) const {
    const std::vector<std::string> own = schema.feature_names();
    std::vector<Index> columns;
    for (const std::string& name : all_.feature_names()) {
      const auto found = std::ranges::find(own, name);
      columns.push_back(found == own.end() ? -1 : found - own.begin());
    }
    return columns;
  }

 private:
  Schema all_;

  [[noreturn]] static void differ(std::size_t place, const std::string& in) {
    data_error("different_sums", "parts 1 and {} differ in {}", place, in);
  }
};

void require_alike(const SumsPart& first, const SumsPart& other, std::size_t place) {
  const auto differ = [&](std::string_view in, const auto& a, const auto& b) {
    data_error("different_sums", "parts 1 and {} differ in {}: '{}' and '{}'; make all parts alike", place, in, a, b);
  };
  if (other.pipeline != first.pipeline) differ("their pipelines", first.pipeline, other.pipeline);
  if (other.seed != first.seed) differ("their seeds", first.seed, other.seed);
  if (other.behind != first.behind) differ("the model given with --behind", first.behind, other.behind);
  if (other.sums.task != first.sums.task)
    differ("their labels", task_name(first.sums.task), task_name(other.sums.task));
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
  if (data.weight.size() > 0)
    option_error("weighted_sums",
                 "partial: sums have no row weights; leave --weight out, or use fit where the rows are");
  if (data.has_target()) option_error("idle_flag", "partial: sums are of labelled domains; leave --target out");
  TrainView view = train_view(data, context);
  require_labels(pipeline, view);
  SumsPart part{pipeline.text(), context.seed(), behind != nullptr ? model_id(*behind) : "", data.schema, {}};
  if (behind != nullptr) {
    view.x = behind->transform({view.x, view.domain, view.origin}, context);
    part.schema = behind->schema();
  }
  require_finite_features("partial", view.x, view.origin, context);
  const Index cols = view.x.cols();
  if (const Stage* stage = drawing_stage(pipeline)) view.x = stage->method->sums.drawn(view.x, stage->options, context);
  part.sums = gather_sums(view, context);
  part.sums.row_cols = cols;
  require_domain_rows(part.sums.moments, options.min_rows);
  return part;
}

std::vector<SumsPart> in_order(std::vector<SumsPart> parts) {
  std::vector<std::pair<std::string, std::size_t>> order;
  for (std::size_t i = 0; i < parts.size(); ++i) order.emplace_back(parts[i].id(), i);
  std::ranges::sort(order);
  std::vector<SumsPart> result;
  ColumnUnion columns;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && order[k].first == order[k - 1].first)
      data_error("same_part", "the part {} is there twice; the same rows must not count twice",
                 order[k].first.substr(0, 8));
    result.push_back(std::move(parts[order[k].second]));
    require_alike(result.front(), result.back(), k + 1);
    columns.add(result.back().schema, k + 1);
  }
  return result;
}

AddedParts added(const std::vector<SumsPart>& parts, const Context& context) {
  ColumnUnion columns;
  for (std::size_t k = 0; k < parts.size(); ++k) columns.add(parts[k].schema, k + 1);
  const Schema& all = columns.schema();
  const SumsPart& first = parts.front();
  // What a model or a drawn map makes of the rows has columns of its own, which are the same everywhere.
  const bool as_read = first.behind.empty() && drawing_stage(Pipeline::parse(first.pipeline)) == nullptr;
  AddedParts result{{}, all};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    context.check_cancelled();
    RowSums own = parts[k].sums;
    if (as_read) {
      own = taken_sums(own, columns.columns_of(parts[k].schema), all.feature_names());
      own.row_cols = own.cols();
    } else if (parts[k].schema.feature_names() != all.feature_names()) {
      data_error("different_sums",
                 "parts 1 and {} differ in their columns or categories, and features are drawn for equal ones; give a "
                 "model with --behind that knows all of them",
                 k + 1);
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
  return Model::from_sums(Pipeline::parse(first.pipeline), all.sums, all.schema, behind, context.seeded(first.seed));
}

}  // namespace ecotone
