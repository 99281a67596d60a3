#include "ecotone/methods/learn/gp/gp.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/held_rows.h"
#include "ecotone/methods/learn/domain_sample.h"
#include "ecotone/methods/learn/gp/gp_fit.h"
#include "ecotone/methods/learn/rows_of_blocks.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

/// Rows whose kernel values with the training rows are held at once.
constexpr Index block_rows = 1024;

bool is_exact(const TrainView& view, const GpOptions& options, const Context& context) {
  if (options.route != GpRoute::automatic) return options.route == GpRoute::exact;
  if (view.labelled() <= most_exact_gp_rows) return true;
  context.note("gp: more than {} rows, so route=low_rank with rank {}", most_exact_gp_rows, options.rank);
  return false;
}

GpFitted fit_route(const TrainView& view, const Refits* refits, const GpOptions& options, const Context& context) {
  if (!is_exact(view, options, context)) return fit_low_rank_gp(view, refits, options, context);
  return options.distributional ? fit_distributional_gp(view, refits, options, context)
                                : fit_exact_gp(view, refits, options, context);
}

GpPrediction predict_rows(const ExactGp& gp, const Features& x, GpVariance variance, const Context& context) {
  GpPrediction result{Matrix(x.rows(), 1), Vector(variance == GpVariance::none ? 0 : x.rows())};
  for (Index b = 0; b < x.blocks(); b += blocks_together) {
    const Matrix z = rows_of_blocks(x, b, std::min(b + blocks_together, x.blocks()), context);
    const GpPrediction part = predict_gp(gp.fit, gp.kernel, gp.x, z, variance, context);
    const Index first = x.first_row(b);
    result.mean.middleRows(first, z.rows()) = part.mean;
    if (variance != GpVariance::none) result.variance.segment(first, z.rows()) = part.variance;
  }
  return result;
}

/// All rows of a domain are its sample, so they are in memory; kernel values are by blocks.
GpPrediction predict_in_domains(const ExactGp& gp, const Batch& batch, GpVariance variance, const Context& context) {
  const DomainSample sample = batch_sample(batch);
  const Matrix k1 = batch_domain_kernel("gp", *gp.domains, sample, context);
  const Index n = sample.x.rows();
  GpPrediction result{Matrix(n, 1), Vector(variance == GpVariance::none ? 0 : n)};
  for (Index first = 0; first < n; first += block_rows) {
    context.check_cancelled();
    const Index count = std::min(block_rows, n - first);
    const auto rows = sample.x.middleRows(first, count);
    const std::span<const std::int32_t> domain(sample.domain);
    const DomainRows part{rows, domain.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                          std::ssize(sample.names)};
    const Matrix cross = gp.domains->cross(part, k1, context);
    result.mean.middleRows(first, count) = gp.fit.mean(cross, rows, context);
    if (variance == GpVariance::none) continue;
    // k1(P, P) = 1
    result.variance.segment(first, count) = gp.fit.variance(cross, kernel_diagonal(gp.kernel, rows), rows, context);
  }
  return result;
}

GpPrediction predict_process(const ExactGp& gp, const Batch& batch, bool variance, const Context& context) {
  const GpVariance what = variance ? GpVariance::latent : GpVariance::none;
  return gp.domains ? predict_in_domains(gp, batch, what, context) : predict_rows(gp, batch.x, what, context);
}

GpPrediction predict_process(const LowRankGp& gp, const Batch& batch, bool variance, const Context& context) {
  const auto what = variance ? GpLowRankVariance::whole : GpLowRankVariance::none;
  const Matrix inputs = gp.fit.basis.mean() == GpMean::linear ? batch.x.to_matrix() : Matrix();
  if (!gp.domains) return predict_gp_low_rank(gp.fit, gp.map, batch.x, inputs, what, context);
  const DomainRowsOf rows = batch_rows(batch);
  const DomainPlaces places = gp.domains->place(rows.rows(), context);
  warn_of_batch_domains("gp", gp.domains->domains_of(places), places.rows, rows.names, context);
  return predict_gp_low_rank(gp.fit, domain_map_rows(*gp.domains, rows, places), inputs, what, context);
}

double noise_of(const GpProcess& process) {
  return std::visit([](const auto& gp) { return gp.fit.parameters.noise; }, process);
}

}  // namespace

Gp::Gp(GpProcess process, bool variance, const GpNotes& notes)
    : process_(std::move(process)), variance_(variance), notes_(notes) {}

StageResult Gp::fit(const TrainView& view, const GpOptions& options, const Context& context, FitCache&) {
  return fit_refitting(view, nullptr, options, context);
}

StageResult Gp::fit_refitting(const TrainView& view, const Refits* refits, const GpOptions& options,
                              const Context& context) {
  if (!options.distributional && !options.sigma1.is_auto())
    context.warn("unused_option", "gp: sigma1 is used only with distributional=true");
  const TrainView kept = rows_with_weight("gp", view);
  std::optional<Refits> of_kept;
  if (refits != nullptr && options.fit == GpFitRule::cv) of_kept = refits->of_rows(weighted_rows(view));
  GpFitted found = fit_route(kept, of_kept ? &*of_kept : nullptr, options, context);
  // Only the variance needs it, and it is the larger part of the memory.
  if (!options.variance) std::visit([](auto& gp) { gp.fit.factor = Cholesky::of_lower(Matrix()); }, found.process);
  return {std::make_shared<Gp>(std::move(found.process), options.variance, found.notes), view, std::move(found.status)};
}

Prediction Gp::predict(const Batch& batch, const Context& context) const {
  GpPrediction found =
      std::visit([&](const auto& gp) { return predict_process(gp, batch, variance_, context); }, process_);
  Prediction prediction;
  prediction.task = Task::regress;
  prediction.value = found.mean.col(0);
  // Of the label: that of the function and the noise of a row of weight 1.
  prediction.variance = found.variance.array() + noise_of(process_);
  require_finite_scores("gp", prediction.value, batch);
  require_finite_scores("gp", prediction.variance, batch);
  return prediction;
}

Index Gp::training_rows() const {
  if (const auto* exact = std::get_if<ExactGp>(&process_))
    return exact->domains ? exact->domains->x().rows() : exact->x.rows();
  const auto& low = std::get<LowRankGp>(process_);
  return low.domains ? held_rows(*low.domains) : held_rows(low.map);
}

bool Gp::needs_domain_sample() const {
  return std::visit([](const auto& gp) { return gp.domains.has_value(); }, process_);
}

namespace {

StageResult fit_gp_with_refits(const TrainView& view, const Refits& refits, const OptionValues& values,
                               const Context& context, FitCache&) {
  return Gp::fit_refitting(view, &refits, read_options<GpOptions>(values), context);
}

}  // namespace

Method gp_method() {
  return make_method<GpOptions, Gp::fit, Gp::load>(
      {.name = "gp",
       .family = Family::learn,
       .summary = "Gaussian process regression with row weights: predictions and the standard deviation of each.",
       .when = "for numbers when the function is curved and each prediction needs a standard deviation.",
       .example = "impute | scale | gp route=low_rank rank=50",
       .citation = "rasmussen2006",
       .learns = Learns::numbers,
       .penalties = {{"noise"}},
       .without_rows = "least_squares behind kpca route=low_rank map=fourier holds weights and random frequencies "
                       "instead",
       .fit_with_refits = fit_gp_with_refits});
}

}  // namespace ecotone
