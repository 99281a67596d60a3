#pragma once

/// The public face of the library: include this header and link `ecotone::ecotone` (CMake) or `ecotone` (pkg-config).
/// examples/cpp holds two whole programs that include nothing else of ecotone.
///
/// What this header names stays. The other headers are installed because this one is made of them, and what they
/// declare beyond the names below may change between minor versions.
///
/// - Context: threads, seed, Observer (notes, warnings, progress) and CancelFlag; every computing call takes one
/// - Error: the one exception; ErrorKind says who has to act, a code is for programs and the message for people
/// - Dataset: features, labels, domains with roles, row weights, and the Schema of the columns
/// - read_dataset: files as a Dataset, by ReadOptions
/// - read_for_model: files as a Dataset with a model's columns; parse_for_model: the same for CSV text in memory
/// - generate: a synthetic Dataset, by name
/// - train_view: all that fitting may see of a Dataset (TrainView); batch: all that prediction may see (Batch)
/// - Pipeline: stages in order; Pipeline::parse("impute | scale | logistic l2=0.01")
/// - Model: a fitted pipeline; fit, predict, transform, save, load, inspect
/// - Prediction: what Model::predict answers; classes with probabilities, or numbers
/// - methods: all methods that stages are made of, with their options
/// - evaluate: pipelines scored on held-out domains, by EvaluateOptions, as an Evaluation; evaluation_table prints it
/// - evaluate_grids: the same with options chosen inside every split, of each PipelineGrid
/// - search_points and tune: options tuned within the training domains, by TuneOptions, as a Tuning
/// - choose_candidates: what choosing without the target's labels costs, by ChooseOptions, as a Choice
/// - guarded_fit: a model that adapts to the target only where the estimated gain stands out, as Guarded
/// - diagnose: how the domains of a Dataset differ, by DiagnoseOptions, as a Diagnosis
/// - select_features: the columns whose effect holds across domains, by SelectOptions, as a FeatureSelection
/// - html_report: an evaluation as an HTML page
/// - version: the release, as text
#include "ecotone/base/context.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/choose.h"
#include "ecotone/choose/guard.h"
#include "ecotone/choose/selection.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/data/read.h"
#include "ecotone/diagnose/diagnose.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/html/html.h"
#include "ecotone/report/text/text.h"
#include "ecotone/version.h"
