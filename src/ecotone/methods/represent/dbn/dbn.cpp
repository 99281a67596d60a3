#include "ecotone/methods/represent/dbn/dbn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

/// Rows passed to the next layer in one product.
constexpr Index lift_rows = 512;
/// A reconstruction error this many times that of the first epoch counts as failed training.
constexpr double risen = 1.5;

bool valid_layers(const DbnOptions& options) {
  return !options.layers.empty() && std::all_of(options.layers.begin(), options.layers.end(),
                                                [](double units) { return units == std::floor(units); });
}

RbmOptions machine_options(const DbnOptions& options, std::size_t layer, VisibleUnits units, Index rows) {
  return {.hidden = static_cast<Index>(options.layers[layer]),
          .epochs = options.epochs,
          .batch = std::min<Index>(options.batch, rows),
          .cd = options.cd,
          .rate = units == VisibleUnits::gaussian ? options.rate_gaussian : options.rate,
          .momentum = options.momentum,
          .weight_decay = options.weight_decay,
          .name = fmt::format("dbn layer {} of {}", layer + 1, options.layers.size())};
}

/// Memory for the rows of a layer and of the one above it, and for training, at the largest layer.
void require_training_memory(const TrainView& view, const DbnOptions& options) {
  double most = 0;
  double kept = 0;
  double below = static_cast<double>(view.x.cols());
  for (std::size_t layer = 0; layer < options.layers.size(); ++layer) {
    const RbmOptions machine = machine_options(options, layer, VisibleUnits::binary, view.x.rows());
    const bool last = layer + 1 == options.layers.size();
    const double rows = below + (last ? 0 : options.layers[layer]);
    const double training = ContrastiveDivergence::memory(static_cast<Index>(below), machine);
    most = std::max(most, kept + training + sizeof(float) * rows * static_cast<double>(view.x.rows()));
    kept += sizeof(float) * below * options.layers[layer];
    below = options.layers[layer];
  }
  constexpr double limit = 1e18;
  require_memory(static_cast<std::size_t>(std::min(most, limit)), "dbn",
                 fmt::format("training on {} rows", view.x.rows()), "use fewer rows or smaller layers");
}

/// The mean activations of the hidden units, computed in fixed blocks of rows.
SingleMatrix lift(const Rbm& machine, const SingleMatrix& v, const Context& context) {
  SingleMatrix h(v.rows(), machine.hidden());
  context.parallel((v.rows() + lift_rows - 1) / lift_rows, [&](Index b) {
    const Index first = b * lift_rows;
    const Index rows = std::min(lift_rows, v.rows() - first);
    hidden_means(machine, v.middleRows(first, rows), h.middleRows(first, rows));
  });
  return h;
}

Status status_of(const Matrix& reconstruction) {
  for (Index layer = 0; layer < reconstruction.rows(); ++layer) {
    const double first = reconstruction(layer, 0);
    const double last = reconstruction(layer, reconstruction.cols() - 1);
    if (last <= risen * first) continue;
    return {false, fmt::format("the reconstruction error of layer {} rose from {:.4g} to {:.4g}; use a smaller rate",
                               layer + 1, first, last)};
  }
  return {};
}

/// The values of a model file's array as single precision; they must be exactly that already.
template <class Single, class Double>
Single exact_single(const Double& values, const std::string& name) {
  constexpr double largest = std::numeric_limits<float>::max();
  Single result(values.rows(), values.cols());
  for (Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (std::abs(value) > largest || static_cast<double>(static_cast<float>(value)) != value)
      file_error("bad_model", "array '{}' must hold single-precision numbers", name);
    result.data()[i] = static_cast<float>(value);
  }
  return result;
}

std::string_view units_name(VisibleUnits units) { return units == VisibleUnits::binary ? "binary" : "gaussian"; }

std::string numbered(std::string_view name, std::size_t layer) { return fmt::format("{}{}", name, layer + 1); }

}  // namespace

struct Dbn::Net {
  DbnInput input;
  std::vector<Rbm> machines;

  /// The mean activations of the top layer.
  void apply(ConstMatrixMap x, MatrixView z) const {
    SingleMatrix v(x.rows(), x.cols());
    input.apply(x, v);
    for (const Rbm& machine : machines) {
      SingleMatrix h(v.rows(), machine.hidden());
      hidden_means(machine, v, h);
      v = std::move(h);
    }
    z = v.cast<double>();
  }
};

Dbn::Dbn(DbnInput input, std::vector<Rbm> machines, Matrix reconstruction)
    : net_(std::make_shared<const Net>(Net{std::move(input), std::move(machines)})),
      reconstruction_(std::move(reconstruction)) {}

StageResult Dbn::fit(const TrainView& view, const DbnOptions& options, const Context& context, FitCache&) {
  if (!valid_layers(options)) {
    option_error("bad_option", "dbn: layers must be whole numbers as in 500,500,2000, got '{}'",
                 fmt::join(options.layers, ","));
  }
  DbnInput input = choose_input(view, options.visible, options.scale, context);
  require_training_memory(view, options);
  SingleMatrix v = visible_rows(view.x, input, context);
  std::vector<Rbm> machines;
  Matrix reconstruction(static_cast<Index>(options.layers.size()), options.epochs);
  VisibleUnits units = input.units;
  for (std::size_t layer = 0; layer < options.layers.size(); ++layer) {
    const RbmOptions machine = machine_options(options, layer, units, v.rows());
    RbmFit fit = fit_rbm(v, units, machine, context);
    if (!fit.finite) {
      option_error("diverged", "dbn: the weights of layer {} overflow with a learning rate of {}; use a smaller {}",
                   layer + 1, machine.rate, units == VisibleUnits::gaussian ? "rate_gaussian" : "rate");
    }
    context.note("{}: reconstruction error {:.4g} in the first epoch, {:.4g} in the last", machine.name,
                 fit.reconstruction[0], fit.reconstruction[options.epochs - 1]);
    reconstruction.row(static_cast<Index>(layer)) = fit.reconstruction.transpose();
    if (layer + 1 < options.layers.size()) v = lift(fit.rbm, v, context);
    machines.push_back(std::move(fit.rbm));
    units = VisibleUnits::binary;
  }
  Status status = status_of(reconstruction);
  v.resize(0, 0);
  return pass_on(std::make_shared<Dbn>(std::move(input), std::move(machines), std::move(reconstruction)), view, context,
                 std::move(status));
}

Features Dbn::transform(const Batch& batch, const Context& context) const {
  const Index cols = output_cols(batch.x.cols());
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(cols));
  for (Index j = 0; j < cols; ++j) names.push_back(fmt::format("h{}", j + 1));
  return batch.x.map(
      cols, std::move(names), [net = net_](ConstMatrixMap x, MatrixView z) { net->apply(x, z); }, context);
}

Index Dbn::output_cols(Index) const { return net_->machines.back().hidden(); }

StageState Dbn::save() const {
  StageState state;
  state.info["visible"] = units_name(net_->input.units);
  state.set("mean", net_->input.mean);
  state.set("scale", net_->input.scale);
  state.set("reconstruction", reconstruction_);
  for (std::size_t layer = 0; layer < net_->machines.size(); ++layer) {
    const Rbm& machine = net_->machines[layer];
    state.set(numbered("weights", layer), Matrix(machine.weights.cast<double>()));
    state.set(numbered("visible_bias", layer), Vector(machine.visible_bias.cast<double>()));
    state.set(numbered("hidden_bias", layer), Vector(machine.hidden_bias.cast<double>()));
  }
  return state;
}

std::shared_ptr<const Fitted> Dbn::load(const StageState& state, const DbnOptions& options, const StageInput& input) {
  if (!valid_layers(options)) file_error("bad_model", "'layers' must be whole numbers");
  DbnInput units{VisibleUnits::binary, state.vector("mean", input.cols), state.vector("scale", input.cols)};
  if ((units.scale.array() < std::numeric_limits<double>::min()).any())
    file_error("bad_model", "array 'scale' must be > 0");
  const std::string visible = state.text("visible");
  if (visible == units_name(VisibleUnits::gaussian)) {
    units.units = VisibleUnits::gaussian;
  } else if (visible != units_name(VisibleUnits::binary)) {
    file_error("bad_model", "'visible' must be binary or gaussian, is '{}'", visible);
  }
  Matrix reconstruction =
      state.matrix("reconstruction", static_cast<Index>(options.layers.size()), static_cast<Index>(options.epochs));
  std::vector<Rbm> machines;
  Index below = input.cols;
  for (std::size_t layer = 0; layer < options.layers.size(); ++layer) {
    const auto hidden = static_cast<Index>(options.layers[layer]);
    const auto matrix = [&](const std::string& name) {
      return exact_single<SingleMatrix>(state.matrix(name, below, hidden), name);
    };
    const auto vector = [&](const std::string& name, Index size) {
      return exact_single<SingleVector>(state.vector(name, size), name);
    };
    machines.push_back({layer == 0 ? units.units : VisibleUnits::binary, matrix(numbered("weights", layer)),
                        vector(numbered("visible_bias", layer), below),
                        vector(numbered("hidden_bias", layer), hidden)});
    below = hidden;
  }
  return std::make_shared<Dbn>(std::move(units), std::move(machines), std::move(reconstruction));
}

Method dbn_method() {
  return make_method<DbnOptions, Dbn::fit, Dbn::load>(
      {.name = "dbn",
       .family = Family::represent,
       .summary = "Features of a deep belief network: stacked restricted Boltzmann machines, trained on all rows "
                  "(target rows too) without labels.",
       .when = "when there are many unlabelled rows of images or counts and few labels.",
       .example = "impute | scale | dbn layers=20,10 epochs=5 | logistic",
       .citation = "hinton2006"});
}

}  // namespace ecotone
