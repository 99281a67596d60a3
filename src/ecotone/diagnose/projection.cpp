#include "ecotone/diagnose/projection.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"
#include "ecotone/methods/model.h"

namespace ecotone {
namespace {

constexpr Index most_projected = 600;

std::vector<Index> projected_rows(const Dataset& data) {
  const Index each = std::max<Index>(1, most_projected / data.domain.count());
  std::vector<Index> rows;
  for (Index d = 0; d < data.domain.count(); ++d) {
    std::vector<Index> own = data.domain.rows_of(d);
    std::erase_if(own, [&](Index row) { return data.y->missing(row); });
    own = spread_over(own, each);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  if (std::ssize(rows) > most_projected) rows = spread_over(rows, most_projected);
  std::ranges::sort(rows);
  return rows;
}

/// Where there is one component, as `dica` has of two classes: a strip for each domain, its rows a little apart.
double strip_place(Index domain, Index row) {
  constexpr double golden = 0.6180339887498949;
  const double spread = golden * static_cast<double>(row);
  return static_cast<double>(domain) + 0.7 * (spread - std::floor(spread));
}

}  // namespace

Projections projections_of(const Dataset& given, const Context& context) {
  Projections result;
  if (!given.y || given.domain.count() < 2) return result;
  // What is said on the way is about this picture alone.
  const Context quiet = context.observed_by(nullptr);
  const Dataset data = levels_to_compare(given, quiet);
  const std::vector<Index> rows = projected_rows(data);
  result.domains = data.domain.names;
  result.classes = data.y->classes;
  for (const Index row : rows) {
    result.domain.push_back(data.domain.index[at(row)]);
    if (data.y->task == Task::classify) result.cls.push_back(data.y->index[at(row)]);
  }
  for (const char* text : {"impute | scale | kpca components=2", "impute | scale | dica components=2"}) {
    try {
      const Model model = Model::fit(Pipeline::parse(text), train_view(data, rows, {}, quiet), data.schema, quiet);
      const Matrix plane = model.transform(batch(data, rows), quiet).to_matrix();
      if (plane.cols() < 1) continue;
      Projection projection{text, {}, {}};
      for (Index i = 0; i < plane.rows(); ++i) {
        projection.x.push_back(plane(i, 0));
        projection.y.push_back(plane.cols() > 1 ? plane(i, 1) : strip_place(result.domain[at(i)], i));
      }
      result.planes.push_back(std::move(projection));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
    }
  }
  return result;
}

}  // namespace ecotone
