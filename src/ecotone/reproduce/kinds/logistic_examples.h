#pragma once

#include "ecotone/reproduce/experiment.h"

/// The examples of Sayed's chapter on logistic regression (sayed2022). Iris is read from the folder of the data and
/// reduced to two principal components.
namespace ecotone {

/// Kind `logistic_binary` (Example 59.1): setosa against the rest of iris, learned from all rows but `test` random ones
/// by (59.15) without a penalty. Rows are "test errors", "splits without a test error, %", and "all training rows right
/// within N iterations, %" and the same of test rows for each N of `watched`; the column is "setosa".
///
///     "test": N, "step": NUMBER, "epochs": N, "watched": [N, ...]
ExperimentKind logistic_binary_kind();

/// Kind `logistic_classes` (Examples 59.2 and 59.3): the three classes of iris by binary classifiers, one versus all or
/// one versus one. Columns are pipelines. Rows are the coefficients "-theta", "w1" and "w2" of each problem, such as
/// "-theta 0|12" of class 0 against the others, or "w1 01"; "training errors 0|12, %"; "test errors"; and "rms distance
/// from the 18 printed coefficients" of the means of the coefficients of both ways to split the classes. The printed
/// ones are the published numbers of an experiment in rows and columns of these names.
///
///     "multiclass": "ova" | "ovo", "test": N, "columns": [{"column": NAME, "pipeline": TEXT}], "printed_in":
///     EXPERIMENT
ExperimentKind logistic_classes_kind();

/// Kind `logistic_queries` (Examples 59.4 and 59.6): rows labelled by the sign of h'w^a, learned by (59.35) from all of
/// them, and from a seed followed by a step with each row that a strategy picks among `subset` random ones. With
/// `epochs`, the column "all labels" has the rows "cosine to w^a", "norm relative to w^a" and "ln of the normalised
/// risk after N epochs" for each N of `watched`. Each number of passes over the seed is a column, "1 pass over the
/// seed", with the rows "cosine after the seed", "cosine after Q queries: STRATEGY" and, for all strategies but the
/// first, "same row as the first strategy, %: STRATEGY": how often it would pick the row that the first one picks.
///
///     "rows": N, "features": N, "step": NUMBER, "l2": NUMBER, "epochs": N, "watched": [N, ...], "seed": N,
///     "passes": [N, ...], "subset": N, "queries": N, "strategies": [TEXT, ...]
ExperimentKind logistic_queries_kind();

/// Kind `query_table` (Example 59.5): which of some samples is asked, from the likelihoods of their classes. A
/// repetition shows them in a random order. Rows "sample N" have the columns "class", "likelihood" and "1 - likelihood"
/// of the likeliest class; the rows "least confident sample" and "sample of most entropy" have the column "sample".
///
///     "likelihoods": [[NUMBER, ...] of each sample]
ExperimentKind query_table_kind();

/// Kind `concept_shift` (Example 59.7): source and target have the same features and other labelling models; a source
/// model with importance weights (59.66) labels the target. Columns are penalties. Rows: "target error, %", "weighted
/// less unweighted, points", "correlation of the error with the angle" between the two models, "norm of w*", "norm of
/// w^x", "size of theta^x", and "draws with at most 19% error, %".
///
///     "rows": N, "step": NUMBER, "epochs": N, "good": PERCENT,
///     "columns": [{"column": NAME, "l2": NUMBER, "penalise_offset": true | false}]
ExperimentKind concept_shift_kind();

}  // namespace ecotone
