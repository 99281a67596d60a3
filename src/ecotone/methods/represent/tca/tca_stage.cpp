#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/methods/domain_places.h"
#include "ecotone/methods/represent/components/components.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/components/tca.h"

namespace ecotone {
namespace {

enum class TcaGroups { automatic, two, domain };
enum class TcaRoute { automatic, exact, low_rank };

constexpr Index most_exact_transfer = 1000;
constexpr double rough_transfer = 0.1;

struct TcaOptions : ComponentStageOptions {
  double mu = 10;
  TcaGroups groups = TcaGroups::automatic;
  TcaRoute transfer_route = TcaRoute::automatic;
  int transfer_components = 30;

  static constexpr auto fields() {
    using O = TcaOptions;
    return std::tuple{
        field("components", &O::transfer_components, "Number of components; a message reports if fewer exist",
              between(1, 1e6)),
        field("sigma", &O::sigma, "Width of the Gaussian kernel; auto: the median distance of rows", above(0.0)),
        field("mu", &O::mu,
              "Weight of the distance between the means of groups; 0: kernel components, infinitely large: equal means",
              at_least(0.0)),
        field("groups", &O::groups,
              "What means are brought together: two, sources and target, or those of every domain; auto: two if there "
              "is a target",
              one_of("auto", "two", "domain")),
        field("route", &O::transfer_route,
              "exact: a matrix of all rows; low_rank: a low-rank kernel map, time linear in the rows; auto: low_rank "
              "beyond 1,000 rows",
              one_of("auto", "exact", "low_rank")),
        field("rank", &O::rank, "low_rank: largest number of landmarks or frequencies", between(1, 100000)),
        field("map", &O::map,
              "low_rank: landmarks chosen by random pivots, at random or by greedy pivots, or random Fourier features",
              one_of("pivoted", "uniform", "greedy", "fourier"))};
  }
};

/// The group of each row, counted from 0.
struct TransferGroups {
  std::vector<std::int32_t> index;
  Index count = 0;
};

TransferGroups groups_of(const TrainView& view, TcaGroups by) {
  const bool two = by == TcaGroups::two || (by == TcaGroups::automatic && view.has_target());
  TransferGroups groups;
  std::map<std::int32_t, std::int32_t> seen;
  for (const std::int32_t d : view.domain.index) {
    const std::int32_t key = !two ? d : view.role[at(d)] == Role::target ? 1 : 0;
    const auto next = static_cast<std::int32_t>(seen.size());
    groups.index.push_back(seen.emplace(key, next).first->second);
  }
  groups.count = std::ssize(seen);
  return groups;
}

Kernel transfer_kernel(const Features& x, const TcaOptions& options, ComponentReport& report, const Context& context) {
  Kernel kernel{.kind = KernelKind::rbf, .sigma = options.sigma.value.value_or(1)};
  if (options.sigma.is_auto()) {
    const Bandwidth found = median_bandwidth(x, context);
    kernel.sigma = found.sigma;
    report.sigma_rows = found.rows;
  }
  if (!std::isfinite(kernel.sigma))
    data_error("non_finite", "tca: the distances between rows overflow; add scale before it");
  check_kernel(kernel);
  return kernel;
}

ComponentProjection transfer_by_map(const Features& x, const Kernel& kernel, const TransferGroups& groups,
                                    const TcaOptions& options, const TransferOptions& solver, ComponentReport& report,
                                    const Context& context) {
  LowRankFit fit = fit_low_rank(x, kernel, {.kind = options.map, .rank = options.rank}, context);
  const LowRankSums sums = gather_low_rank_sums({x, fit.map, groups.index, groups.count}, context);
  TransferDirections found = transfer_directions(sums, solver, context);
  fix_transfer_signs(x, fit.map, found.directions, context);
  static constexpr std::array names = {"pivoted", "uniform", "greedy", "fourier"};
  report.map = names[static_cast<std::size_t>(options.map)];
  report.rank = fit.map.rank();
  report.map_rows = fit.sample;
  report.residual = fit.residual;
  report.spectrum.gamma = found.gamma;
  if (fit.residual > rough_transfer)
    context.warn("rough_map", "tca: the map of rank {} leaves {:.2g} of the kernel unexplained; raise rank or sigma",
                 report.rank, fit.residual);
  // Column j of z has variance g / n.
  LowRankComponents components{
      found.directions, Vector::Zero(fit.map.rank()), (found.gamma / static_cast<double>(x.rows())).cwiseSqrt(), {}};
  const bool direct = direct_is_safe(fit.map, components);
  return LowRankProjection(std::move(fit.map), std::move(components.theta), std::move(components.mean), direct);
}

StageResult fit_tca(const TrainView& view, const TcaOptions& options, const Context& context, FitCache&) {
  const Features& x = view.x;
  if (x.rows() < 2) data_error("too_few_rows", "tca: at least two rows are needed, got {}", x.rows());
  require_finite_features("tca", x, view.origin, context);
  if (options.groups == TcaGroups::two && !view.has_target()) require_target("tca", view, x.rows());
  const TransferGroups groups = groups_of(view, options.groups);
  if (groups.count < 2)
    context.warn("one_domain", "tca: all rows are of one group, so there are no means to bring together");
  ComponentReport report;
  report.rows = x.rows();
  report.domains = groups.count;
  const Kernel kernel = transfer_kernel(x, options, report, context);
  const bool exact = options.transfer_route == TcaRoute::exact ||
                     (options.transfer_route == TcaRoute::automatic && x.rows() <= most_exact_transfer);
  report.route = exact ? "exact" : "low_rank";
  const TransferOptions solver{.mu = options.mu, .components = options.transfer_components};
  ComponentProjection projection;
  if (exact) {
    TransferComponents found =
        transfer_components(x.to_matrix(), kernel, groups.index, groups.count, solver, "tca", context);
    report.spectrum.gamma = found.gamma;
    projection = std::move(found.map);
  } else {
    projection = transfer_by_map(x, kernel, groups, options, solver, report, context);
  }
  const Index count = report.spectrum.gamma.size();
  report.spectrum.gamma_imag = Vector::Zero(count);
  report.spectrum.weight = options.mu;
  if (count == 0)
    context.warn("no_components", "tca: there are no components: the rows are equal under this kernel");
  else if (count < options.transfer_components)
    context.note("tca: there are only {} components, not {}: the other eigenvalues are below 1e-10 of the largest",
                 count, options.transfer_components);
  tell_class_shares("tca", view, context);
  return pass_on(std::make_shared<Components>(std::move(projection), ComponentCentre::train, std::move(report)), view,
                 context);
}

std::shared_ptr<const Fitted> load_tca(const StageState& state, const TcaOptions& options, const StageInput& input) {
  return Components::load(state, options, input);
}

}  // namespace

Method tca_method() {
  return make_method<TcaOptions, fit_tca, load_tca>(
      {.name = "tca",
       .family = Family::represent,
       .summary = "Kernel components that vary over rows and bring the means of source and target, or of all domains, "
                  "together.",
       .when = "when domains differ in their means in ways that do not matter and a target sample is there. It matches "
               "means alone, not spreads, and takes differences of class shares away: in our study it was "
               "better than nothing in 20 and worse in 20 of 66 new domains. Put scale before it, and behind it where "
               "the learner "
               "penalises.",
       .example = "impute | scale | tca components=10 | scale | logistic",
       .citation = "pan2011",
       .plain = PlainForm{},
       .without_rows = "route=low_rank map=fourier holds random frequencies instead"});
}

}  // namespace ecotone
