#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/represent/components/components.h"

namespace ecotone {
namespace {

constexpr const char* low_rank = "low_rank";

ComponentReport report_of(const StageState& state) {
  ComponentReport report;
  report.route = state.text("route");
  report.rows = state.count("rows");
  report.domains = state.count("domains");
  report.sigma_rows = state.count("sigma_rows");
  if (state.info.contains("output_kernel")) {
    report.output_kernel = state.text("output_kernel");
    report.output_sigma = state.number("output_sigma");
  }
  ComponentSpectrum& spectrum = report.spectrum;
  const Index size = state.count("components");
  spectrum.gamma = state.vector("gamma", size);
  spectrum.gamma_imag = state.vector("gamma_imag", size);
  spectrum.complex_pair = state.flag("complex_pair");
  spectrum.most_negative = state.number("gamma_most_negative");
  spectrum.tr_kq = state.number("tr_KQ");
  if (state.info.contains("weight")) spectrum.weight = state.number("weight");
  spectrum.distributional_variance = state.number("distributional_variance");
  spectrum.norm = state.number("tr_BKB");
  if (report.route != low_rank) return report;
  report.map = state.text("map");
  report.rank = state.count("rank");
  report.map_rows = state.count("map_rows");
  if (report.map_rows > 0) report.residual = state.number("residual");
  return report;
}

const Kernel& kernel_of(const ComponentProjection& projection) {
  const auto* exact = std::get_if<ComponentMap>(&projection);
  return exact ? exact->kernel : std::get<LowRankProjection>(projection).map().kernel();
}

void save_projection(const ComponentMap& map, StageState& state) {
  state.set("landmarks", map.rows);
  state.set("coefficients", map.coefficients);
  state.set("bias", map.bias);
}

void save_projection(const LowRankProjection& projection, StageState& state) {
  const LowRankMap& map = projection.map();
  state.info["direct"] = projection.direct();
  state.set("origin", map.origin());
  state.set(map.fourier() ? "frequencies" : "landmarks", map.points());
  if (map.fourier()) {
    state.set("phases", map.phases());
  } else {
    state.set("factor", map.lower());
  }
  state.set("theta", projection.theta());
  state.set("mean", projection.mean());
}

LowRankProjection load_low_rank(const StageState& state, const Kernel& kernel, const ComponentReport& report,
                                Index cols) {
  const Index rank = report.rank;
  Vector origin = state.vector("origin", cols);
  const bool fourier = state.has("frequencies");
  try {
    LowRankMap map =
        fourier ? LowRankMap::of_frequencies(kernel, std::move(origin), state.matrix("frequencies", rank, cols),
                                             state.vector("phases", rank))
                : LowRankMap::of_landmarks(kernel, std::move(origin), state.matrix("landmarks", rank, cols),
                                           state.matrix("factor", rank, rank));
    return {std::move(map), state.matrix("theta", rank, report.spectrum.size()), state.vector("mean", rank),
            state.flag("direct")};
  } catch (const Error& error) {
    file_error("bad_model", "{}", error.what());
  }
}

}  // namespace

StageState Components::save() const {
  StageState state;
  state.info["route"] = report_.route;
  state.info["rows"] = report_.rows;
  state.info["domains"] = report_.domains;
  state.info["sigma"] = kernel_of(*projection_).sigma;
  state.info["sigma_rows"] = report_.sigma_rows;
  if (!report_.output_kernel.empty()) {
    state.info["output_kernel"] = report_.output_kernel;
    state.info["output_sigma"] = report_.output_sigma;
  }
  const ComponentSpectrum& spectrum = report_.spectrum;
  state.info["components"] = spectrum.size();
  state.info["complex_pair"] = spectrum.complex_pair;
  state.info["gamma_most_negative"] = spectrum.most_negative;
  state.info["tr_KQ"] = spectrum.tr_kq;
  if (spectrum.weight) state.info["weight"] = *spectrum.weight;
  // The two terms of the paper's Theorem 5: tr(B'KQKB) and tr(B'KB).
  state.info["distributional_variance"] = spectrum.distributional_variance;
  state.info["tr_BKB"] = spectrum.norm;
  state.set("gamma", spectrum.gamma);
  state.set("gamma_imag", spectrum.gamma_imag);
  if (!report_.map.empty()) {
    state.info["map"] = report_.map;
    state.info["rank"] = report_.rank;
    state.info["map_rows"] = report_.map_rows;
    if (report_.map_rows > 0) state.info["residual"] = report_.residual;
  }
  std::visit([&](const auto& projection) { save_projection(projection, state); }, *projection_);
  return state;
}

std::shared_ptr<const Fitted> Components::load(const StageState& state, const ComponentStageOptions& options,
                                               const StageInput& input) {
  ComponentReport report = report_of(state);
  const Index size = report.spectrum.size();
  const Kernel kernel{options.kernel, state.number("sigma"), options.degree, options.coef0, options.scale};
  try {
    check_kernel(kernel);
  } catch (const Error& error) {
    file_error("bad_model", "{}", error.what());
  }
  if (report.route == low_rank) {
    LowRankProjection projection = load_low_rank(state, kernel, report, input.cols);
    return std::make_shared<Components>(std::move(projection), options.centre, std::move(report));
  }
  ComponentMap map;
  map.kernel = kernel;
  map.rows = state.matrix("landmarks", -1, input.cols);
  map.coefficients = state.matrix("coefficients", map.rows.rows(), size);
  map.bias = state.vector("bias", size);
  return std::make_shared<Components>(std::move(map), options.centre, std::move(report));
}

}  // namespace ecotone
