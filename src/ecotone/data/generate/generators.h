#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/data/generate/generate.h"

/// Code shared by the generators, and the list of them. Internal to data/.
namespace ecotone {

Generator moons_generator();
Generator wishart_generator();
Generator logistic_generator();
Generator clinics_generator();
/// Problems for weighting under covariate shift: misspecified, strong, noshift.
std::vector<Generator> shift_generators();
/// Problems for active learning: separable10, noisy10, hidden_blob, three_classes.
std::vector<Generator> active_generators();
Generator synthetic_domains_generator();
Generator target_shift_generator();
Generator exchangeable_generator();

/// A generator whose options are a struct.
template <class Options, Dataset (*draw_one)(const Options&, const Context&)>
Generator make_generator(std::string name, std::string summary, std::string citation) {
  return {std::move(name), std::move(summary), std::move(citation), describe_options<Options>(),
          [](const OptionValues& values, const Context& context) {
            return draw_one(read_options<Options>(values), context);
          }};
}

/// A data set to be filled domain by domain. Several threads may fill different domains at once.
class Draft {
 public:
  /// One row count per domain. Without classes the label is a number.
  Draft(std::string_view generator, std::vector<std::string> domains, std::vector<Index> rows, Index cols,
        std::vector<std::string> classes);

  Index domains() const { return static_cast<Index>(first_.size()) - 1; }
  Index rows_in(Index domain) const;
  /// The features of a domain.
  MatrixView x(Index domain);
  void set_class(Index domain, Index row, int index);
  void set_value(Index domain, Index row, double value);
  /// The finished data set, with columns x1 .. xd, "domain" and "label" ("y" for regression).
  Dataset finish() &&;
  Dataset finish(Schema schema) &&;

 private:
  std::vector<Index> first_;  // first row of each domain, then the number of rows
  Matrix x_;
  Labels y_;
  Domains domain_;
};

/// A rows x cols matrix for generated data; memory is checked.
Matrix generated_matrix(std::string_view generator, Index rows, Index cols);
/// Fills with standard normal draws, row by row.
void fill_normal(MatrixView x, Random& random);
/// True with probability 1 / (1 + exp(-logit)).
bool draw_logit(double logit, Random& random);

}  // namespace ecotone
