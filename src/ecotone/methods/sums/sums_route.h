#pragma once

#include <memory>

#include "ecotone/methods/method.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/sums/row_sums.h"

namespace ecotone {

/// What fitting a stage on sums gives: the fitted stage and the sums of what it makes of the rows.
struct SumsResult {
  std::shared_ptr<const Fitted> fitted;
  RowSums next;
  Status status = {};
};

/// The route of a method from typed functions: SumsResult fit(const RowSums&, const Options&, const Context&) and,
/// where some options need the rows, void check(const Options&).
template <class Options, auto fit>
SumsRoute sums_route() {
  SumsRoute route;
  route.fit = [](const RowSums& sums, const OptionValues& values, const Context& context) {
    return fit(sums, read_options<Options>(values), context);
  };
  return route;
}
template <class Options, auto fit, auto check>
SumsRoute sums_route() {
  SumsRoute route = sums_route<Options, fit>();
  route.check = [](const OptionValues& values) { check(read_options<Options>(values)); };
  return route;
}

/// The same of a method that knows what to do beside sums of targets.
inline SumsRoute beside_targets(SumsRoute route) {
  route.beside_targets = true;
  return route;
}

/// The methods that can be learned from sums, by name.
std::vector<std::string> sums_method_names();
/// Option error `needs_rows` that names the first stage that cannot be learned from sums where it stands, and what can.
void require_sums(const Pipeline& pipeline);

}  // namespace ecotone
