#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// Rows in the plane of two components.
struct Projection {
  std::string pipeline;
  std::vector<double> x, y;  ///< of the rows of Projections
};

/// The same rows in several planes, to see whether domains lie apart.
struct Projections {
  std::vector<std::string> domains, classes;  ///< no classes: numbers
  std::vector<Index> domain;                  ///< of each row
  std::vector<Index> cls;                     ///< of each row; empty without classes
  std::vector<Projection> planes;
};

/// At most 600 labelled rows, equally many of each domain as far as there are, before (`kpca`) and after (`dica`) the
/// variation between domains is taken out. Where there is one component, as `dica` has of two classes, each domain has
/// a strip of its own. A plane that cannot be made of these data is left out; without labels there is none.
Projections projections_of(const Dataset& data, const Context& context);

}  // namespace ecotone
