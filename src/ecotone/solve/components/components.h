#pragma once

#include <cstdint>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/general_eigen.h"
#include "ecotone/linalg/matrix.h"

/// Kernel components that differ little between groups of rows. The exact routes use one Cholesky factorisation and
/// Woodbury's identity (lam > 0), or only products with K, which then need not be stored; they estimate their memory
/// before taking it. The low-rank route adds sums of a kernel map over blocks of rows and solves from these sums alone,
/// so rows may lie in a file.
///
/// Distances are measured from the medians of the columns, so that a distant row costs the others no digits.
///
/// Shared by all routes (muandet2013): K is the centred Gram matrix, Q = F F' with F = N^(-1/2) E (I - 11'/N) for N
/// groups and E = indicator / n_i, M = w KQK + K + lam I. Unsupervised components solve K^2 v = g M v; supervised ones
/// P K^2 v = g M v (paper) or K P K v = g M v (symmetric), with P = L (L + n eps I)^-1 = W W' for the centred Gram
/// matrix L of the outputs. g has no factor 1/n. Kv are the training projections.
namespace ecotone {

enum class ComponentForm { paper, symmetric };

/// reference: v'Mv = 1 (paper form: |v| = 1), then v / sqrt(g), as in the authors' program; metric: v'Mv = 1; variance:
/// training projections of mean square 1.
enum class ComponentScaling { reference, metric, variance };

struct ComponentOptions {
  bool supervised = false;
  double weight = 0;      ///< w in M; 0: no invariance term
  bool relative = false;  ///< w is weight / tr(KQ), or 0 if tr(KQ) is rounding
  double lam = 0.1;
  ComponentForm form = ComponentForm::symmetric;  ///< for supervised components
  ComponentScaling scaling = ComponentScaling::variance;
  Index components = 2;
};

struct ComponentSpectrum {
  Vector gamma;       ///< Re g of each component, descending
  Vector gamma_imag;  ///< Im g; a complex pair is two components, the real and the imaginary part of its vector
  bool complex_pair = false;
  double most_negative = 0;            ///< the smallest Re g if it is negative, else 0
  double tr_kq = 0;                    ///< distributional variance tr(KQ) of the rows
  std::optional<double> weight;        ///< w of M as it was used; models of earlier versions do not have it
  double distributional_variance = 0;  ///< tr(B'KQKB) of the scaled components, without the weight
  double norm = 0;                     ///< tr(B'KB)
  Index size() const { return gamma.size(); }
};

/// w of M for rows with this tr(KQ) and mean diagonal of the centred K.
double weight_used(const ComponentOptions& options, double tr_kq, double mean_diagonal);

/// The eigenpairs that count: Re g descends, Re g > 1e-10 max|g|, at most `components` of them; a complex pair is two
/// columns (so there may be one more). Columns of `z` have length 1 and signs as in SymmetricEigen.
struct ChosenPairs {
  Vector gamma;
  Vector gamma_imag;
  Matrix z;
  bool complex_pair = false;
  double most_negative = 0;
};
ChosenPairs choose_pairs(const GeneralEigen& eigen, Index components);
ChosenPairs choose_pairs(const SymmetricEigen& eigen, Index components);

/// The squared lengths of each unscaled v that the scalings need.
struct ComponentNorms {
  Vector coefficients;  ///< |v|^2; used only by the reference scaling of the paper form, may be empty otherwise
  Vector metric;        ///< v'Mv
  Vector projections;   ///< |Kv|^2
};

/// The factor for each v; `rows` is the number of training rows. A part of a complex pair that vanishes stays 0; any
/// other v without a length is the data error `non_finite`.
Vector scale_factors(const ComponentOptions& options, const ChosenPairs& pairs, const ComponentNorms& norms,
                     Index rows);

/// F of all rows: n x groups. Every group needs at least one row (data error `empty_group`).
Matrix group_factor(std::span<const std::int32_t> group, Index groups);
/// F'B = N^(-1/2) (I - 11'/N) E'B from the group means E'B (groups x c): for callers that keep means and not rows.
Matrix from_group_means(const Matrix& means);

/// The outputs as L = G G' before centring; G is n x q.
struct OutputFactor {
  Matrix g;
};
/// 1 where classes are equal, else 0.
OutputFactor delta_output(std::span<const std::int32_t> classes, Index count);
OutputFactor linear_output(ConstMatrixView y);
/// The Gaussian kernel of the outputs, to 1e-14 of its trace.
OutputFactor rbf_output(ConstMatrixView y, double sigma, const Context& context);

/// C^-T (q x q) with C C' = G'HG + n eps I, so that W = H G C^-T and P = W W'. Takes the centred G'HG of `rows` rows.
/// epsilon must be positive.
Matrix output_transform(const Matrix& centred_gram, Index rows, double epsilon, const Context& context);

}  // namespace ecotone
