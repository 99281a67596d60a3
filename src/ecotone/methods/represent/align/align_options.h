#pragma once

#include <tuple>

#include "ecotone/base/options.h"
#include "ecotone/methods/domain_places.h"
#include "ecotone/solve/alignment/linear_maps.h"

namespace ecotone {

enum class AlignTo { automatic, target, barycentre };
enum class DomainWeights { equal, rows };

/// Options of align, coral, linot and barycentre; each declares those that it uses.
struct AlignOptions {
  LinearMapKind map = LinearMapKind::coral;
  AlignTo to = AlignTo::automatic;
  AutoNumber shrink_mean;
  AutoNumber shrink_cov;
  double ridge = 1e-6;
  bool move_mean = true;
  bool pool_sources = false;
  DomainWeights domain_weights = DomainWeights::equal;
  NewDomain fresh = NewDomain::sample;

  static constexpr auto map_fields() {
    using O = AlignOptions;
    return std::tuple{
        field("map", &O::map,
              "coral: decorrelate, then give the reference's covariance; monge: the map that moves rows least",
              one_of("coral", "monge")),
        field("to", &O::to,
              "What domains are mapped to: the target, or the barycentre of the sources; auto: the target if there is "
              "one",
              one_of("auto", "target", "barycentre"))};
  }
  static constexpr auto shrink_fields() {
    using O = AlignOptions;
    return std::tuple{
        field("shrink_mean", &O::shrink_mean,
              "Rows that the shared mean counts for in the mean of a domain; auto: few where domains differ, at most "
              "100",
              at_least(0.0)),
        field("shrink_cov", &O::shrink_cov,
              "Rows that the covariance within all domains counts for in that of one; auto: the number of columns",
              at_least(0.0)),
        field("ridge", &O::ridge,
              "Added to variances, as a multiple of the mean variance within domains; use 0.001 with more columns than "
              "rows",
              at_least(0.0)),
        field("move_mean", &O::move_mean,
              "Move the mean of a domain to that of the reference; false: its spread alone")};
  }
  static constexpr auto source_fields() {
    return std::tuple{field("pool_sources", &AlignOptions::pool_sources,
                            "One map for all source rows, in place of one for each source domain")};
  }
  static constexpr auto barycentre_fields() {
    return std::tuple{field("domain_weights", &AlignOptions::domain_weights,
                            "What source domains count for in the barycentre: equally, or by their rows",
                            one_of("equal", "rows"))};
  }
  static constexpr auto new_fields() {
    return std::tuple{
        field("new", &AlignOptions::fresh,
              "A domain that training did not have is mapped by the moments of its rows in the batch; pooled: without "
              "its sample, so that the answer for a row does not depend on others (its rows stay as they are, or are "
              "mapped by the shared moments to the barycentre)",
              one_of("sample", "pooled"))};
  }
  static constexpr auto fields() {
    return std::tuple_cat(map_fields(), shrink_fields(), source_fields(), barycentre_fields(), new_fields());
  }
};

struct CoralOptions : AlignOptions {
  CoralOptions() { to = AlignTo::target; }
  static constexpr auto fields() { return std::tuple_cat(shrink_fields(), source_fields(), new_fields()); }
};
struct LinotOptions : AlignOptions {
  LinotOptions() {
    map = LinearMapKind::monge;
    to = AlignTo::target;
  }
  static constexpr auto fields() { return std::tuple_cat(shrink_fields(), source_fields(), new_fields()); }
};
struct BarycentreOptions : AlignOptions {
  BarycentreOptions() {
    map = LinearMapKind::monge;
    to = AlignTo::barycentre;
  }
  static constexpr auto fields() { return std::tuple_cat(shrink_fields(), barycentre_fields(), new_fields()); }
};

}  // namespace ecotone
