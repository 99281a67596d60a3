#include "ecotone/data/generate/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

std::vector<Generator> make_generators() {
  std::vector<Generator> list{moons_generator(), wishart_generator(), logistic_generator(), clinics_generator()};
  for (auto& group : {shift_generators(), active_generators()}) list.insert(list.end(), group.begin(), group.end());
  list.push_back(synthetic_domains_generator());
  list.push_back(target_shift_generator());
  list.push_back(exchangeable_generator());
  return list;
}

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> list = make_generators();
  return list;
}

const Generator& generator(std::string_view name) {
  const auto& list = generators();
  const auto it = std::ranges::find(list, name, &Generator::name);
  if (it != list.end()) return *it;
  std::vector<std::string> names;
  for (const Generator& item : list) names.push_back(item.name);
  const std::string nearest = did_you_mean(name, names);
  if (!nearest.empty()) option_error("unknown_generator", "no generator '{}'; did you mean '{}'?", name, nearest);
  option_error("unknown_generator", "no generator '{}'; the generators are {}", name, fmt::join(names, ", "));
}

Dataset generate(std::string_view name, const OptionTexts& options, const Context& context) {
  const Generator& found = generator(name);
  return found.draw(complete_options(found.name, found.options, options), context);
}

Matrix generated_matrix(std::string_view generator, Index rows, Index cols) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(cols) * sizeof(double);
  // Beyond 2^63 a double does not fit a size_t; no machine has that much memory either.
  constexpr double most = 9.2e18;
  require_memory(bytes < most ? static_cast<std::size_t>(bytes) : static_cast<std::size_t>(most), generator,
                 fmt::format("{} x {} values", rows, cols), "use fewer rows or features");
  return Matrix(rows, cols);
}

void fill_normal(MatrixView x, Random& random) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = random.normal();
}

bool draw_logit(double logit, Random& random) { return random.uniform() < 1.0 / (1.0 + std::exp(-logit)); }

Draft::Draft(std::string_view generator, std::vector<std::string> domains, std::vector<Index> rows, Index cols,
             std::vector<std::string> classes) {
  first_.push_back(0);
  for (const Index count : rows) first_.push_back(first_.back() + count);
  const Index total = first_.back();
  x_ = generated_matrix(generator, total, cols);
  domain_.names = std::move(domains);
  domain_.index.resize(static_cast<std::size_t>(total));
  for (std::size_t d = 0; d < rows.size(); ++d)
    std::fill(domain_.index.begin() + first_[d], domain_.index.begin() + first_[d + 1], static_cast<std::int32_t>(d));
  if (classes.empty()) {
    y_.task = Task::regress;
    y_.value = Vector::Zero(total);
  } else {
    y_.classes = std::move(classes);
    y_.index.resize(static_cast<std::size_t>(total), 0);
  }
}

Index Draft::rows_in(Index domain) const { return first_[at(domain) + 1] - first_[at(domain)]; }

MatrixView Draft::x(Index domain) { return x_.middleRows(first_[at(domain)], rows_in(domain)); }

void Draft::set_class(Index domain, Index row, int index) { y_.index[at(first_[at(domain)] + row)] = index; }

void Draft::set_value(Index domain, Index row, double value) { y_.value[first_[at(domain)] + row] = value; }

Dataset Draft::finish() && {
  Schema schema;
  schema.label = y_.task == Task::classify ? "label" : "y";
  schema.domain = "domain";
  for (Index j = 0; j < x_.cols(); ++j) schema.columns.push_back({fmt::format("x{}", j + 1), ColumnKind::numeric, {}});
  return std::move(*this).finish(std::move(schema));
}

Dataset Draft::finish(Schema schema) && {
  Dataset data;
  data.x = Features::dense(std::move(x_), schema.feature_names());
  data.y = std::move(y_);
  data.role.assign(domain_.names.size(), Role::source);
  data.domain = std::move(domain_);
  data.schema = std::move(schema);
  return data;
}

}  // namespace ecotone
