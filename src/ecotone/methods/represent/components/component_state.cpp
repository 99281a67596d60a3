#include "ecotone/methods/represent/components/components.h"

namespace ecotone {
namespace {

bool flag(const StageState& state, const char* name) {
  const auto found = state.info.find(name);
  if (found == state.info.end() || !found->is_boolean()) file_error("bad_model", "'{}' must be true or false", name);
  return found->get<bool>();
}

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
  spectrum.complex_pair = flag(state, "complex_pair");
  spectrum.most_negative = state.number("gamma_most_negative");
  spectrum.tr_kq = state.number("tr_KQ");
  spectrum.distributional_variance = state.number("distributional_variance");
  spectrum.norm = state.number("tr_BKB");
  return report;
}

}  // namespace

StageState Components::save() const {
  StageState state;
  state.info["route"] = report_.route;
  state.info["rows"] = report_.rows;
  state.info["domains"] = report_.domains;
  state.info["sigma"] = map_->kernel.sigma;
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
  // The two terms of the paper's Theorem 5: tr(B'KQKB) and tr(B'KB).
  state.info["distributional_variance"] = spectrum.distributional_variance;
  state.info["tr_BKB"] = spectrum.norm;
  state.set("gamma", spectrum.gamma);
  state.set("gamma_imag", spectrum.gamma_imag);
  state.set("landmarks", map_->rows);
  state.set("coefficients", map_->coefficients);
  state.set("bias", map_->bias);
  return state;
}

std::shared_ptr<const Fitted> Components::load(const StageState& state, const ComponentStageOptions& options,
                                               const StageInput& input) {
  ComponentReport report = report_of(state);
  const Index size = report.spectrum.size();
  ComponentMap map;
  map.kernel = {options.kernel, state.number("sigma"), options.degree, options.coef0, options.scale};
  try {
    check_kernel(map.kernel);
  } catch (const Error& error) {
    file_error("bad_model", "{}", error.what());
  }
  map.rows = state.matrix("landmarks", -1, input.cols);
  map.coefficients = state.matrix("coefficients", map.rows.rows(), size);
  map.bias = state.vector("bias", size);
  return std::make_shared<Components>(std::move(map), options.centre, std::move(report));
}

}  // namespace ecotone
