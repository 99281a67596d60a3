// How well do two models work in a hospital that they have not seen? Draws the demo data, evaluates, fits, saves and
// predicts.
#include <fmt/format.h>

#include "ecotone/ecotone.h"

using namespace ecotone;

int main() {
  const Context context({.threads = 2, .seed = 1});
  const Dataset data = generate("clinics", {}, context);
  const Pipeline pipeline = Pipeline::parse("impute | scale | logistic l2=0.001");

  const Evaluation honest = evaluate(data, {Pipeline::parse("constant"), pipeline}, {}, context);
  fmt::print("{}\n", evaluation_table(honest));

  const Model model = Model::fit(pipeline, train_view(data, context), data.schema, context);
  model.save("clinics.eco");
  const Prediction answer = Model::load("clinics.eco").predict({data.x, data.domain}, context);
  fmt::print("first patient: {} with probability {:.3f}\n", model.classes()[answer.index[0]], answer.probability(0, 1));
}
