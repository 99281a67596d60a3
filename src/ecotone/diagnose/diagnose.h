#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

struct DiagnoseOptions {
  Index permutations = 499;          ///< of each MMD test
  Index sample = 2000;               ///< rows per domain used in tests, fewer with very many comparisons
  std::vector<std::string> targets;  ///< compare with these domains only; empty: all

  static constexpr auto fields() {
    using O = DiagnoseOptions;
    return std::tuple{
        field("target", &O::targets, "Compare only these domains with the others"),
        field("permutations", &O::permutations, "Permutations per test", between(1, 1'000'000)),
        field("sample", &O::sample, "Largest number of rows per domain used in tests", between(10, 20'000))};
  }
};

/// How far apart one feature of two samples is.
struct FeatureShift {
  std::string feature;
  std::string domain;         ///< compared with all others; empty if the two samples are clear from context
  std::optional<double> smd;  ///< standardised mean difference, of all rows; empty when both are constant and differ
  double ks = 0;              ///< Kolmogorov-Smirnov distance, of the sampled rows
  double p = 1;
  double q = 1;        ///< p adjusted for all features and domains (Benjamini-Hochberg)
  std::string remark;  ///< for a domain against all others, a possible cause: "another unit?", "seen only here"
};

/// A comparison of two samples. Values that cannot be computed (too few rows) are empty.
struct Comparison {
  std::string a;
  std::string b;  ///< empty: all other domains
  Index rows_a = 0, rows_b = 0;
  Index used_a = 0, used_b = 0;        ///< rows of the permutation test and the classifier
  std::optional<double> mmd2;          ///< unbiased; of all rows, of blocks, or of the sampled rows
  std::optional<double> mmd2_error;    ///< standard error, where blocks were averaged
  std::optional<double> block_p;       ///< by the normal law, where blocks were averaged
  std::optional<double> p, q;          ///< of the permutation test of the used rows; adjusted within its table
  std::optional<double> auroc;         ///< of a domain classifier, cross-validated
  std::optional<double> a_distance;    ///< proxy A-distance 2 (1 - 2 err), not below 0; err is balanced
  std::optional<double> ess_a_to_b;    ///< effective share of a's rows when they are weighted to look like b
  std::optional<double> ess_b_to_a;    ///< the other way round
  std::vector<FeatureShift> features;  ///< the most shifted ones

  /// Whether the samples hardly overlap: AUROC or the KS distance of the most shifted feature is 0.95 or more.
  /// Weighting then lacks the rows it needs, whatever effective share it reports.
  bool apart() const;
};

/// The labels of one domain.
struct DomainLabels {
  std::string domain;
  Index rows = 0;                  ///< with a label
  std::vector<double> share;       ///< of each class; empty without rows or in regression
  std::optional<double> mean, sd;  ///< in regression
};

/// How often a column's values are missing, per domain.
struct MissingShift {
  std::string column;
  std::vector<double> share;  ///< by domain
  double spread = 0;          ///< largest minus smallest
};

/// Standardised mean differences of domains from all others, as a table.
struct ShiftTable {
  std::vector<std::string> features;                    ///< the most shifted ones, at most 30
  std::vector<std::string> domains;                     ///< those that were compared with the rest
  std::vector<std::vector<std::optional<double>>> smd;  ///< by domain, then feature; as in FeatureShift
};

/// A domain on a map of two dimensions whose distances are about those of the MMD.
struct DomainPlace {
  std::string domain;
  double x = 0, y = 0;
};

struct Advice {
  std::string domain;  ///< empty: of all
  std::string text;
};

/// What `diagnose` found.
struct Diagnosis {
  Index rows = 0;
  Index features = 0;
  std::string pipeline;     ///< whose features were compared; empty: those of the data
  std::string domain_word;  ///< what the user calls a domain
  std::vector<std::string> domains;
  std::vector<Index> domain_rows;
  Index sample = 0;
  Index permutations = 0;
  Index missing_values = 0;
  double sigma = 1;
  Index sigma_rows = 0;
  double variance = 0;  ///< distributional variance tr(KQ)
  double unbiased_variance = 0;
  Index variance_rows = 0;
  std::vector<Comparison> against_rest;  ///< one per domain; with targets: one per target; farthest first by mmd2
  std::vector<Comparison> pairs;         ///< the same order; empty with more than 12 domains, unless targets are given
  /// Every feature with the domain that stands out most: those beyond chance first, then by ks.
  std::vector<FeatureShift> feature_shift;
  ShiftTable shifts;
  std::vector<DomainPlace> map;  ///< where all pairs were compared
  double map_share = 0;          ///< of the squared distances that the map shows
  std::optional<Task> task;      ///< empty: no labels
  std::string label;
  std::vector<std::string> classes;
  std::vector<DomainLabels> labels;
  std::vector<MissingShift> missing;  ///< columns with missing values, largest spread first
  std::vector<Advice> advice;

  /// Whether any comparison used only a sample of the rows.
  bool sampled() const;
};

/// Adjusted p-values up to this count as a shift: such features rank first, and the advice names them.
inline constexpr double shift_level = 0.05;
/// More domains than this are compared with the rest only, not pair by pair.
inline constexpr Index most_paired_domains = 12;

/// How the domains of a data set differ. Features are standardised over all rows. A missing value is replaced by the
/// column's mean in MMD and domain classifiers, and ignored in per-feature shifts. Domains of more than `sample` rows
/// are sampled by the context's seed for permutation tests, classifiers and Kolmogorov-Smirnov distances; their MMD^2
/// is averaged over blocks of up to 50,000 rows. Row weights are ignored, and so are, with a note, columns of codes
/// with more than 100 levels. Data errors: `empty_data`, `no_features`,
/// `needs_two_domains`, `non_finite` (infinite or beyond 1e150), `unknown_domain`.
Diagnosis diagnose(const Dataset& data, const DiagnoseOptions& options, const Context& context);

}  // namespace ecotone
