#pragma once

#include <tuple>
#include <vector>

#include "ecotone/methods/weight/weighting.h"

namespace ecotone {

/// Options of weight stages that can count every source domain equally while they estimate.
struct BalancedWeightOptions : WeightOptions {
  bool balance = false;

  static constexpr auto fields() {
    return std::tuple_cat(
        WeightOptions::fields(),
        std::tuple{field("balance", &BalancedWeightOptions::balance,
                         "Count every source domain equally in what the target is compared with, however many rows it "
                         "has: the weights start as those of weight.balance")});
  }
};

/// Option error `bad_option` if domains should also be weighted one by one.
void check_balance(const BalancedWeightOptions& options, const char* who);

/// What each of these source rows of the view counts: n / (E n_e) with n rows, of which n_e are in its domain of E.
/// Empty, for 1 each, if balance=false.
Vector source_masses(const TrainView& view, const std::vector<Index>& rows, const BalancedWeightOptions& options);

/// ln(ratio mass); minus infinity where the ratio is 0.
Vector log_of_ratio(const Vector& ratio, const Vector& mass);

}  // namespace ecotone
