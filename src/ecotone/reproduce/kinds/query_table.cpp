#include "ecotone/base/error.h"
#include "ecotone/methods/multiclass/decode.h"
#include "ecotone/methods/query/pick.h"
#include "ecotone/methods/query/uncertainty.h"
#include "ecotone/reproduce/kinds/logistic_examples.h"
#include "ecotone/reproduce/kinds/logistic_parts.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

Matrix read_likelihoods(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  Matrix likelihoods = fields.table("likelihoods");
  fields.finish();
  if (likelihoods.cols() < 3 || (likelihoods.array() < 0).any())
    file_error("bad_experiment", "{}: field 'likelihoods' must have at least three likelihoods of each sample", where);
  return likelihoods;
}

/// In the order of table_values.
std::vector<CellName> check_table(const ExperimentItem& item, const std::string& where) {
  const Matrix likelihoods = read_likelihoods(item, where);
  std::vector<CellName> cells;
  for (Index i = 1; i <= likelihoods.rows(); ++i)
    for (const char* column : {"class", "likelihood", "1 - likelihood"})
      cells.emplace_back(fmt::format("sample {}", i), column);
  cells.emplace_back("least confident sample", "sample");
  cells.emplace_back("sample of most entropy", "sample");
  return cells;
}

/// The sample that a rule asks; `order` has the samples behind the rows of the prediction.
double asked_sample(QueryRule rule, const Prediction& prediction, const std::vector<Index>& order, Random& random) {
  const Strategy strategy{.rule = rule, .options = {.explore = 0}};
  const Vector score = uncertainty(rule, prediction);
  return static_cast<double>(order[at(pick({score, Matrix()}, strategy, 1, random).front().place)] + 1);
}

std::vector<double> table_values(const Matrix& likelihoods, const Context& context) {
  Random random = context.random("order");
  const std::vector<Index> order = random.permutation(likelihoods.rows());
  Prediction prediction;
  prediction.probability.resize(likelihoods.rows(), likelihoods.cols());
  for (Index i = 0; i < likelihoods.rows(); ++i) {
    // (59.39)
    prediction.probability.row(i) = likelihoods.row(order[at(i)]) / likelihoods.row(order[at(i)]).sum();
    prediction.index.push_back(
        static_cast<std::int32_t>(first_largest(Vector(prediction.probability.row(i).transpose()))));
  }
  const Vector unsure = uncertainty_share(QueryRule::least_confidence, prediction);
  std::vector<double> values(at(3 * likelihoods.rows()));
  for (Index i = 0; i < likelihoods.rows(); ++i) {
    const std::size_t first = at(3 * order[at(i)]);
    values[first] = prediction.index[at(i)] + 1;
    values[first + 1] = prediction.probability(i, prediction.index[at(i)]);
    values[first + 2] = unsure[i];
  }
  values.push_back(asked_sample(QueryRule::least_confidence, prediction, order, random));
  values.push_back(asked_sample(QueryRule::entropy, prediction, order, random));
  return values;
}

std::vector<Cell> run_table(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const Matrix likelihoods = read_likelihoods(item, item.name);
  const auto run = [&](std::size_t, const Context& own) { return table_values(likelihoods, own); };
  return cells_of(check_table(item, item.name),
                  run_repetitions<std::vector<double>>(item, {{"samples"}}, options, 0, context, run));
}

}  // namespace

ExperimentKind query_table_kind() {
  return {.name = "query_table", .reads_data = false, .matrix = false, .check = check_table, .run = run_table};
}

}  // namespace ecotone
