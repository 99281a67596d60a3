#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/solve/trees/splits.h"

/// Splits by what they do in each domain. No such score exceeds the gain, so splits are looked at by falling gain, and
/// sums by domain are made for the columns of those alone.
namespace ecotone {

/// The domain of each row and its weight.
struct TreeDomains {
  std::span<const std::int32_t> index = {};
  Index count = 0;
  std::span<const double> weight = {};  ///< of the rows; empty: all 1
};

class DomainSplits {
 public:
  DomainSplits(const TreeRows& data, const Gradients& gradients, const TreeDomains& domains, const TreeOptions& options,
               std::vector<Index> columns = {})
      : data_(data),
        gradients_(gradients),
        domains_(domains),
        options_(options),
        finder_(data, gradients, options, std::move(columns)) {}

  /// What the sums of one column take in a node, for each domain.
  static constexpr std::size_t bytes_of_column = 2 * cells_per_column * sizeof(GradientSums);

  /// Whether the options ask for more than the gain.
  static bool needed(const TreeOptions& options) {
    return options.splits != SplitRule::pooled || options.min_domains > 1;
  }

  /// The first of the splits with the largest score above min_gain; `rows` are those of the node.
  std::optional<TreeNode> best(const SplitNode& node, std::span<const std::uint32_t> rows,
                               const Context& context) const;

  /// Sums of one column of a node by domain.
  struct Cells {
    std::vector<GradientSums> cell;   ///< domain after domain, 256 each
    std::vector<GradientSums> up_to;  ///< of numbers: sums of the codes up to each one, without missing values
    std::vector<double> weight;       ///< of each domain's rows

    /// What of domain e goes left at a split.
    GradientSums left_of(Index e, const TreeNode& split) const;
    /// All of domain e.
    GradientSums all_of(Index e) const;
  };
  Cells cells_of(std::span<const std::uint32_t> rows, Index column) const;
  /// The score of a split under the rule; 0 where it is refused.
  double score(const SplitNode& node, const TreeNode& split, const GradientSums& left, const Cells& cells) const;

 private:
  /// One domain's part in a split.
  struct Part {
    GradientSums left, right;
    double weight = 0;
    double gain = 0;  ///< what the split takes off this domain's loss, with the values of all rows
  };
  /// Those of the domains that have rows in the node.
  std::vector<Part> parts_of(const SplitNode& node, const TreeNode& split, const GradientSums& left,
                             const Cells& cells) const;
  bool enough_agree(const std::vector<Part>& parts, double effect) const;
  bool enough_gain(const std::vector<Part>& parts) const;
  double spread(const std::vector<Part>& parts) const;
  /// The difference of the mean gradients.
  double effect_of(const GradientSums& left, const GradientSums& right) const;

  const TreeRows& data_;
  const Gradients& gradients_;
  const TreeDomains& domains_;
  const TreeOptions& options_;
  SplitFinder finder_;
};

}  // namespace ecotone
