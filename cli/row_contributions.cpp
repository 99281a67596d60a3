#include "cli/row_contributions.h"

#include <algorithm>
#include <numeric>

#include "ecotone/base/memory.h"

namespace ecotone::cli {

namespace {

constexpr Index numbers_at_once = 1 << 20;
constexpr const char* base_name = "base";

}  // namespace

RowContributions::RowContributions(const NewData& in, const Context& context)
    : in_(in),
      known_(in.model.needs_domain_sample() ? in.model.contributions(in.batch(), context)
                                            : ask(0, std::min<Index>(1, in.data.rows()), context)) {}

Index RowContributions::rows_at_once(Index most) const {
  return std::max<Index>(1, std::min(most, numbers_at_once / known_.values.cols()));
}

Contributions RowContributions::ask(Index first, Index last, const Context& context) const {
  std::vector<Index> numbers(at(last - first));
  std::iota(numbers.begin(), numbers.end(), first);
  return in_.model.contributions(in_.batch(numbers), context);
}

std::vector<std::string> RowContributions::heads() const {
  std::vector<std::string> columns = known_.columns;
  columns.emplace_back(base_name);
  std::vector<std::string> heads;
  for (Index k = 0; k < known_.scores(); ++k) {
    const std::string start = known_.scores() == 1 ? "c_" : "c_" + in_.model.classes()[at(k)] + "_";
    for (const std::string& column : columns) heads.push_back(start + column);
  }
  return heads;
}

Matrix RowContributions::rows(Index first, Index last, const Context& context) const {
  if (in_.model.needs_domain_sample()) return known_.values.middleRows(first, last - first);
  return ask(first, last, context).values;
}

Json RowContributions::json(const Context& context) const {
  const Index scores = known_.scores(), width = std::ssize(known_.columns) + 1;
  require_memory(at(in_.data.rows()) * at(scores * width) * sizeof(Json), "predict",
                 "a number for every value of the rows and every score", "write the contributions to a file with -o");
  Json columns = known_.columns;
  columns.push_back(base_name);
  Json values = Json::array();
  const Index step = rows_at_once(in_.data.rows());
  for (Index first = 0; first < in_.data.rows(); first += step) {
    const Matrix some = rows(first, std::min(in_.data.rows(), first + step), context);
    for (const auto& row : some.rowwise()) {
      Json of_row = Json::array();
      for (Index k = 0; k < scores; ++k)
        of_row.push_back(std::vector<double>(row.begin() + k * width, row.begin() + (k + 1) * width));
      values.push_back(scores == 1 ? std::move(of_row[0]) : std::move(of_row));
    }
  }
  return {{"columns", std::move(columns)}, {"values", std::move(values)}};
}

}  // namespace ecotone::cli
