#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/represent/dbn/dbn_input.h"
#include "ecotone/solve/rbm/rbm.h"

namespace ecotone {

struct DbnOptions {
  std::vector<double> layers = {500, 500, 2000};
  DbnVisible visible = DbnVisible::automatic;
  DbnScale scale = DbnScale::automatic;
  int epochs = 15;
  int batch = 100;
  int cd = 1;
  double rate = 0.05;
  double rate_gaussian = 0.005;
  double momentum = 0.9;
  double weight_decay = 2e-4;

  static constexpr auto fields() {
    return std::tuple{
        field("layers", &DbnOptions::layers, "Hidden units of each layer, from the input up", between(1, 1e6)),
        field("visible", &DbnOptions::visible,
              "Units of the input; auto: binary if all values are in [0, 1] or are pixels (whole numbers from 0 to "
              "exactly 255), else gaussian",
              one_of("auto", "binary", "gaussian")),
        field(
            "scale", &DbnOptions::scale,
            "auto: binary units divide whole numbers up to 255 by the largest value, gaussian units standardise every "
            "column; none: keep values as they are",
            one_of("auto", "none")),
        field("epochs", &DbnOptions::epochs, "Passes over the rows for each layer", between(1, 1e6)),
        field("batch", &DbnOptions::batch, "Rows per mini-batch", between(1, 1e6)),
        field("cd", &DbnOptions::cd, "Gibbs steps of contrastive divergence", between(1, 1e6)),
        field("rate", &DbnOptions::rate, "Learning rate of layers with binary visible units", above(0.0)),
        field("rate_gaussian", &DbnOptions::rate_gaussian, "Learning rate of a first layer with gaussian visible units",
              above(0.0)),
        field("momentum", &DbnOptions::momentum,
              "Momentum from the sixth epoch on; before that 0.5, or this value if smaller",
              Limits{.low = 0, .high = 1, .open_high = true}),
        field("weight_decay", &DbnOptions::weight_decay, "Penalty on the weights, multiplied by the learning rate",
              at_least(0.0))};
  }
};

/// A deep belief network: stacked restricted Boltzmann machines, each trained on the mean activations of the one below
/// (hinton2006). Features h1 .. hM are the mean activations of the top layer.
class Dbn : public Fitted {
 public:
  Dbn(DbnInput input, std::vector<Rbm> machines, Matrix reconstruction);

  static StageResult fit(const TrainView& view, const DbnOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const DbnOptions& options,
                                            const StageInput& input);

  Features transform(const Batch& batch, const Context& context) const override;
  Index output_cols(Index input_cols) const override;
  StageState save() const override;

 private:
  struct Net;
  std::shared_ptr<const Net> net_;  ///< shared with the features that are made on demand
  Matrix reconstruction_;           ///< layers x epochs
};

}  // namespace ecotone
