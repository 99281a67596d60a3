#pragma once

#include "ecotone/base/files/archive.h"
#include "ecotone/evaluate/split_fits.h"
#include "ecotone/evaluate/tune/tune_fits.h"

/// The parts of finished fits as a journal keeps them (base/archive.h). A new field of one of these types is named here
/// too, or a resumed run lacks it.
namespace ecotone {

template <class Archive>
void archive(Archive& with, Outcome& outcome) {
  with(outcome.repetition, outcome.rows, outcome.predicted, outcome.probability, outcome.seen, outcome.value,
       outcome.threshold, outcome.set, outcome.low, outcome.high);
}

template <class Archive>
void archive(Archive& with, SplitChoice& choice) {
  with(choice.held_out, choice.pipeline, choice.mean);
}

/// An error has no default, so its parts travel alone.
template <class Archive>
void archive_error(Archive& with, std::optional<Error>& error) {
  bool there = error.has_value();
  with(there);
  if (!there) return error.reset();
  ErrorKind kind = error ? error->kind() : ErrorKind::data;
  std::string code = error ? error->code() : "";
  std::string text = error ? error->what() : "";
  with(kind, code, text);
  error.emplace(kind, code, text);
}

template <class Archive>
void archive(Archive& with, SplitFit& fit) {
  with(fit.outcome, fit.choice, fit.importance, fit.promise);
  archive_error(with, fit.error);
}

template <class Archive>
void archive(Archive& with, FoldScore& score) {
  with(score.metrics, score.error_code, score.error);
}

}  // namespace ecotone
