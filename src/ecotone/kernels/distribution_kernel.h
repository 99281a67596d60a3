#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

/// The kernel on pairs (domain, row), k((P, x), (P', x')) = k1(P, P') k2(x, x') with
/// k1(P, P') = exp(-||mu_P - mu_P'||^2 / (2 sigma1^2)), mu the mean embeddings of k2 (muandet2013, eq. 14).
namespace ecotone {

/// Rows and the domain of each, 0 .. domains - 1.
struct DomainRows {
  ConstMatrixView x;
  std::span<const std::int32_t> domain;
  Index domains = 1;
};

/// The mean embeddings mu_a of domains, by what their kernel says of them. What concerns a domain without rows is 0.
struct MeanEmbeddings {
  Vector rows;     ///< of each domain
  Matrix gram;     ///< G_ab = <mu_a, mu_b>
  Matrix squared;  ///< ||mu_a - mu_b||^2; of the linear kernel from differences of means, so an offset costs no digits
  Vector spread;   ///< s_a^2, the unbiased variance of k2(x, .) around mu_a; 0 of a single row
};

/// By tiles, memory in proportion to the rows; of the linear kernel in one pass over them. Data errors
/// `shape_mismatch`, `empty_data`, `non_finite`.
MeanEmbeddings mean_embeddings(const Kernel& kernel, const DomainRows& rows, const Context& context);

/// A width sigma1 and how it was found.
struct DomainWidth {
  double sigma = 1;      ///< the largest of the next three, the first one times the factor
  double median = 0;     ///< of the distances between domains that have rows
  double sampling = 0;   ///< distance that two samples of one domain have: sqrt(s_a^2/n_a + s_b^2/n_b), median of pairs
  double share = 0;      ///< a quarter of the spread s within domains, the median of s_a
  bool floored = false;  ///< the median of the distances was not the largest
  bool fallback = false;  ///< all three are 0; sigma is 1
};

/// sigma1 = max(factor times the median distance, sampling distance, s / 4): no factor goes below the floors.
///
/// A map that was fitted to make training domains alike puts them nearer to each other than samples of one distribution
/// are, and a new domain is not squeezed: with the median alone k1 would be 0 there and every answer the offset. Two
/// floors that no such map can move: the distance of sampling, and, where samples are so large that it vanishes, a
/// quarter of the spread within domains. Unseen samples of flow cytometry were 0.1 s to 0.4 s from the nearest training
/// domain, squeezed or not. Too wide a k1 is pooling; too narrow a one is no answer.
DomainWidth domain_width(const MeanEmbeddings& means, double factor = 1);

/// exp(-squared / (2 sigma1^2)) of every entry.
Matrix domain_kernel(ConstMatrixView squared, double sigma1);

/// The kernel against training rows: all that prediction needs.
class DistributionKernel {
 public:
  /// `norms` are ||mu_a||^2 of the training domains and `sigma1` is a width. Option error `bad_option`; data error
  /// `bad_kernel` when shapes or numbers cannot be those of a kernel (a model file may hold anything).
  DistributionKernel(const Kernel& kernel, Matrix x, std::vector<std::int32_t> domain, Vector norms, double sigma1);

  const Kernel& row_kernel() const { return kernel_; }
  const Matrix& x() const { return x_; }
  std::span<const std::int32_t> domain() const { return domain_; }
  const Vector& norms() const { return norms_; }
  double sigma1() const { return sigma1_; }
  Index domains() const { return norms_.size(); }

  /// ||mu_P - mu_a||^2 of the domains of a sample (down) and the training domains (across), by tiles.
  Matrix squared_distances(const DomainRows& sample, const Context& context) const;
  /// k1 of the domains of a sample (down) and the training domains (across). Where a row's largest entry is near 0 the
  /// domain is like none of training.
  Matrix domains_of(const DomainRows& sample, const Context& context) const;

  /// The Gram matrix of the training rows, symmetric to the bit; k1 is that of the training domains. Memory checked.
  Matrix gram(ConstMatrixView k1, const Context& context) const;
  /// k of rows (down) with the training rows (across); k1 as from domains_of. Memory checked.
  Matrix cross(const DomainRows& rows, ConstMatrixView k1, const Context& context) const;
  /// cross(...) B without ever holding all kernel values.
  Matrix multiply(const DomainRows& rows, ConstMatrixView k1, ConstMatrixView b, const Context& context) const;

 private:
  Kernel kernel_;
  Matrix x_;
  std::vector<std::int32_t> domain_;
  Vector norms_;
  double sigma1_;

  void check(const DomainRows& rows, ConstMatrixView k1) const;
  /// What rows are seen from: of the training rows alone, so that a far new row changes none of the others.
  Vector origin() const;
};

/// A kernel, and what is known of the training domains.
struct DistributionFit {
  DistributionKernel kernel;
  MeanEmbeddings means;
  DomainWidth width;  ///< where sigma1 was given only its sigma is set
  Matrix k1;          ///< of the training domains
};

/// Rows are copied. sigma1 = 0: by domain_width with this factor.
DistributionFit fit_distribution_kernel(const Kernel& kernel, const DomainRows& rows, double sigma1,
                                        const Context& context, double factor = 1);

}  // namespace ecotone
