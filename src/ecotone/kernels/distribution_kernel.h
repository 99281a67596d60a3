#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

/// The kernel on pairs (domain, row) (muandet2013, eq. 14): k((P, x), (P', x')) = k1(P, P') k2(x, x') with
/// k1(P, P') = exp(-||mu_P - mu_P'||^2 / (2 sigma1^2)), where mu are the mean embeddings of the domains under k2. The
/// width sigma1 has a floor: a map fitted for invariance puts the training domains in one place, and without a floor
/// the width would shrink to 0 with them.
namespace ecotone {

/// Rows with the domain of each, 0 .. domains - 1.
struct DomainRows {
  ConstMatrixView x;
  std::span<const std::int32_t> domain;
  Index domains = 1;
};

/// The mean embeddings mu_a of the domains, in terms of their kernel. Entries of a domain without rows are 0.
struct MeanEmbeddings {
  Vector rows;     ///< number of rows of each domain
  Matrix gram;     ///< G_ab = <mu_a, mu_b>
  Matrix squared;  ///< ||mu_a - mu_b||^2; for the linear kernel from differences of means, so a common offset costs no
                   ///< digits
  Vector spread;   ///< s_a^2, the unbiased variance of k2(x, .) around mu_a; 0 for a single row
};

/// Computed tile by tile, in memory proportional to the number of rows; for the linear kernel in one pass. Data errors
/// `shape_mismatch`, `empty_data`, `non_finite`.
MeanEmbeddings mean_embeddings(const Kernel& kernel, const DomainRows& rows, const Context& context);

/// A width sigma1, and how it was found.
struct DomainWidth {
  double sigma = 1;      ///< the largest of the next three, the first of them times the factor
  double median = 0;     ///< median distance between domains that have rows
  double sampling = 0;   ///< distance between two samples of one domain: sqrt(s_a^2/n_a + s_b^2/n_b), median over pairs
  double share = 0;      ///< a quarter of the spread s within domains, s being the median of s_a
  bool floored = false;  ///< the median distance was not the largest
  bool fallback = false;  ///< all three are 0; sigma is 1
};

/// sigma1 = max(factor times the median distance, sampling distance, s / 4): the factor never takes it below the last
/// two.
///
/// A map that was fitted to make the training domains alike brings them closer together than samples of one
/// distribution are, while a new domain is not drawn in: with the median alone, k1 would be 0 there and every
/// prediction the offset. Two floors are out of reach of such a map: the sampling distance and, where samples are so
/// large that it vanishes, a quarter of the spread within domains. Unseen samples of flow cytometry were 0.1 s to 0.4 s
/// from the nearest training domain, with or without such a map. A k1 that is too wide amounts to pooling; one that is
/// too narrow gives no answer.
DomainWidth domain_width(const MeanEmbeddings& means, double factor = 1);

/// exp(-squared / (2 sigma1^2)) of every entry.
Matrix domain_kernel(ConstMatrixView squared, double sigma1);

/// The kernel against training rows: all that prediction needs.
class DistributionKernel {
 public:
  /// `norms` are ||mu_a||^2 of the training domains and `sigma1` is a width. Option error `bad_option`; data error
  /// `bad_kernel` if shapes or values cannot belong to a kernel (a model file may hold anything).
  DistributionKernel(const Kernel& kernel, Matrix x, std::vector<std::int32_t> domain, Vector norms, double sigma1);

  const Kernel& row_kernel() const { return kernel_; }
  const Matrix& x() const { return x_; }
  std::span<const std::int32_t> domain() const { return domain_; }
  const Vector& norms() const { return norms_; }
  double sigma1() const { return sigma1_; }
  Index domains() const { return norms_.size(); }

  /// ||mu_P - mu_a||^2 between the domains of a sample (down) and the training domains (across), by tiles.
  Matrix squared_distances(const DomainRows& sample, const Context& context) const;
  /// k1 between the domains of a sample (down) and the training domains (across). If the largest entry of a row is near
  /// 0, the domain resembles no training domain.
  Matrix domains_of(const DomainRows& sample, const Context& context) const;

  /// The Gram matrix of the training rows, exactly symmetric; k1 is that of the training domains. Memory is checked.
  Matrix gram(ConstMatrixView k1, const Context& context) const;
  /// k between rows (down) and the training rows (across); k1 as returned by domains_of. Memory is checked.
  Matrix cross(const DomainRows& rows, ConstMatrixView k1, const Context& context) const;
  /// cross(...) B, without ever holding all kernel values.
  Matrix multiply(const DomainRows& rows, ConstMatrixView k1, ConstMatrixView b, const Context& context) const;

 private:
  Kernel kernel_;
  Matrix x_;
  std::vector<std::int32_t> domain_;
  Vector norms_;
  double sigma1_;

  void check(const DomainRows& rows, ConstMatrixView k1) const;
  /// The origin for all rows: from the training rows alone, so that a far new row does not affect the others.
  Vector origin() const;
};

/// A kernel, and what is known about the training domains.
struct DistributionFit {
  DistributionKernel kernel;
  MeanEmbeddings means;
  DomainWidth width;  ///< if sigma1 was given, only its sigma is set
  Matrix k1;          ///< of the training domains
};

/// Copies the rows. sigma1 = 0: chosen by domain_width with this factor.
DistributionFit fit_distribution_kernel(const Kernel& kernel, const DomainRows& rows, double sigma1,
                                        const Context& context, double factor = 1);

}  // namespace ecotone
