#include "ecotone/methods/refits.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/kept_stages.h"
#include "ecotone/methods/model.h"

namespace ecotone {
namespace {

/// Folds that hold at most this many values together are kept.
constexpr double most_kept_values = 5e6;

/// Refits that are kept because they may be asked for again: by the next binary problem, or the next point of a grid.
struct KeptRefits {
  static constexpr const char* key = "refits of the last pipeline";
  std::string stages;  ///< and what their folds are
  std::vector<std::optional<Refitted>> folds;
};

/// Folds of whole domains where there are several, or of rows.
using MakeFolds = std::vector<InnerFold> (*)(const TrainView&, const Context&);
std::vector<InnerFold> domain_or_row_folds(const TrainView& view, const Context& context) {
  return inner_folds(view, context);
}
std::vector<InnerFold> only_row_folds(const TrainView& view, const Context& context) {
  return row_folds(view, most_row_folds, context);
}

std::shared_ptr<KeptRefits> kept_refits(const Upstream& upstream, MakeFolds make, Index folds, FitCache& cache) {
  const std::string text = upstream.pipeline.text() + (make == only_row_folds ? " by row" : "");
  if (cache.in_order()) {
    const auto last = cache.last<std::shared_ptr<KeptRefits>>(KeptRefits::key);
    if (last && (*last)->stages == text) return *last;
  }
  auto kept = std::make_shared<KeptRefits>(KeptRefits{text, {}});
  kept->folds.resize(at(folds));
  if (cache.in_order()) cache.leave(KeptRefits::key, kept);
  return kept;
}

/// A stage that only looks at columns costs about as much as reading the rows; the others may compare rows.
bool only_prepares(const Pipeline& pipeline) {
  return std::ranges::all_of(pipeline.stages(),
                             [](const Stage& stage) { return stage.method->family == Family::prepare; });
}

bool moves_source_rows(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.stages(), [](const Stage& stage) {
    return stage.method->needs_target && stage.method->family != Family::weight;
  });
}

/// Training rows as the fit passed them on, and held-out rows as a sample of their own: what a stage makes of a new row
/// may depend on the rows that come with it.
Features features_by_part(const Model::Passed& passed, const TrainView& view, const InnerFold& fold,
                          const Context& context) {
  const Matrix train = passed.next.x.head(std::ssize(fold.train)).to_matrix();
  const Matrix held =
      passed.model.transform({view.x.take(fold.held), view.domain.take(fold.held)}, context).to_matrix();
  Matrix x = Matrix::Zero(view.labelled(), train.cols());
  for (Index i = 0; i < train.rows(); ++i) x.row(fold.train[at(i)]) = train.row(i);
  for (Index i = 0; i < held.rows(); ++i) x.row(fold.held[at(i)]) = held.row(i);
  return Features::dense(std::move(x), passed.next.x.names());
}

Refitted refitted(const Upstream& upstream, MakeFolds make, std::size_t number, const Context& context) {
  const TrainView view = with_schema_names(upstream.view, upstream.schema, context);
  const std::vector<InnerFold> folds = make(view, context);
  const InnerFold& fold = folds[number];
  const Context quiet = context.derived("refits", number).observed_by(nullptr);
  const Model::Passed passed =
      Model::fit_and_pass(upstream.pipeline, view_of_rows(view, fold.train), upstream.schema, quiet);
  std::vector<Index> labelled(at(view.labelled()));
  for (std::size_t i = 0; i < labelled.size(); ++i) labelled[i] = static_cast<Index>(i);
  Refitted result;
  // What a stage makes of rows that it was fitted on may not be what it makes of others.
  const bool by_part = passed.model.needs_domain_sample() || moves_source_rows(upstream.pipeline);
  result.x = by_part ? features_by_part(passed, view, fold, quiet)
                     : passed.model.transform({view.labelled_x(), view.domain.take(labelled)}, quiet);
  if (passed.next.weight.size() > 0 && passed.next.weight.size() == static_cast<Index>(fold.train.size()) &&
      !only_prepares(upstream.pipeline)) {
    result.weight = Vector::Zero(view.labelled());
    for (std::size_t i = 0; i < fold.train.size(); ++i)
      result.weight[fold.train[i]] = passed.next.weight[static_cast<Index>(i)];
  }
  return result;
}

}  // namespace

std::optional<TrainView> refitted_view(std::string_view who, const TrainView& view, const Refits& refits,
                                       const InnerFold& fold, std::size_t number, const Context& context) {
  TrainView again = view;
  try {
    Refitted refitted = refits.features(number);
    again.x = std::move(refitted.x);
    if (refitted.weight.size() > 0) {
      for (const Index row : fold.held) refitted.weight[row] = view.weight_of(row);
      again.weight = std::move(refitted.weight);
    }
  } catch (const Error& error) {
    // What fits all rows may not fit fewer of them; the other folds can still tell.
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option) throw;
    context.warn("fold_not_refitted", "{}: a fold is left out of the choice because a stage before it fails: {}", who,
                 error.what());
    return std::nullopt;
  }
  const auto rows = at(view.labelled());
  again.domain.index.resize(rows);
  again.domain.partner.resize(std::min(again.domain.partner.size(), rows));
  again.origin.resize(std::min(again.origin.size(), rows));
  again.group.resize(std::min(again.group.size(), rows));
  return again;
}

void keep_refits(FitCache& from, FitCache& to) {
  if (const auto kept = from.last<std::shared_ptr<KeptRefits>>(KeptRefits::key)) to.leave(KeptRefits::key, *kept);
}

namespace {

Refits unchanged(const TrainView& view, MakeFolds make, Index folds, const Context& context) {
  Refits refits;
  refits.folds = folds;
  refits.per_fold = static_cast<double>(view.labelled()) * static_cast<double>(view.x.cols());
  refits.rows = [&view, make, context] { return make(view, context); };
  refits.features = [&view](std::size_t) { return Refitted{view.labelled_x(), {}}; };
  return refits;
}

Refits refits_in(std::shared_ptr<const Upstream> upstream, MakeFolds make, Index folds, const Context& context,
                 FitCache& cache) {
  const auto rows = static_cast<double>(upstream->view.labelled());
  const auto cols = static_cast<double>(upstream->view.x.cols());
  Refits refits;
  refits.folds = folds;
  refits.stages = true;
  refits.per_fold = rows * (only_prepares(upstream->pipeline) ? cols : std::max(rows, cols));
  refits.rows = [upstream, make, context] { return make(upstream->view, context); };
  const auto kept = kept_refits(*upstream, make, refits.folds, cache);
  const bool keeps = rows * cols * static_cast<double>(refits.folds) <= most_kept_values;
  refits.features = [upstream, make, context, kept, keeps](std::size_t number) {
    if (!keeps) return refitted(*upstream, make, number, context);
    std::optional<Refitted>& fold = kept->folds[number];
    if (!fold) fold = refitted(*upstream, make, number, context);
    return *fold;
  };
  return refits;
}

Index row_fold_count(const TrainView& view) { return std::min(view.labelled(), most_row_folds); }

}  // namespace

Refits no_refits(const TrainView& view, const Context& context) {
  Refits refits = unchanged(view, domain_or_row_folds, inner_fold_count(view), context);
  refits.by_row = [&view, context] { return unchanged(view, only_row_folds, row_fold_count(view), context); };
  return refits;
}

Refits refits_of(std::shared_ptr<const Upstream> upstream, const Context& context, FitCache& cache) {
  Refits refits = refits_in(upstream, domain_or_row_folds, inner_fold_count(upstream->view), context, cache);
  refits.by_row = [upstream, context, &cache] {
    return refits_in(upstream, only_row_folds, row_fold_count(upstream->view), context, cache);
  };
  return refits;
}

Refits Refits::of_rows(std::vector<Index> chosen) const {
  Refits result = *this;
  result.rows = [all = rows, chosen] {
    std::vector<InnerFold> folds = all();
    std::vector<Index> place;
    for (const InnerFold& fold : folds)
      for (const auto* part : {&fold.train, &fold.held})
        if (!part->empty()) place.resize(std::max(place.size(), at(part->back()) + 1), -1);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (at(chosen[i]) < place.size()) place[at(chosen[i])] = static_cast<Index>(i);
    for (InnerFold& fold : folds) {
      for (auto* part : {&fold.train, &fold.held}) {
        for (Index& row : *part) row = place[at(row)];
        std::erase(*part, -1);
      }
    }
    return folds;
  };
  result.features = [all = features, chosen](std::size_t number) {
    Refitted whole = all(number);
    Refitted part{whole.x.take(chosen), {}};
    if (whole.weight.size() > 0) part.weight = whole.weight(chosen);
    return part;
  };
  if (by_row) result.by_row = [all = by_row, chosen] { return all().of_rows(chosen); };
  return result;
}

Refits Refits::times(const Vector& factor) const {
  Refits result = *this;
  result.features = [all = features, factor](std::size_t number) {
    Refitted refitted = all(number);
    if (refitted.weight.size() > 0) refitted.weight.array() *= factor.array();
    return refitted;
  };
  if (by_row) result.by_row = [all = by_row, factor] { return all().times(factor); };
  return result;
}

}  // namespace ecotone
