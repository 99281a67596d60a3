#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

/// One stage of a pipeline: a method and all its option values.
struct Stage {
  const Method* method = nullptr;
  OptionValues options;
};

/// All option values of a method from those that were given: parsed, checked, and completed by defaults, some of which
/// depend on other options (`Method::defaults_beside`).
OptionValues stage_options(const Method& method, const OptionTexts& given);
/// Sets the defaults that depend on other options. `given` names the options that were given.
void set_defaults_beside(const Method& method, const std::vector<std::string>& given, OptionValues& values);

/// Stages in order. Text form: `stage key=value key=value | stage ...`; values may be quoted with ' or "
/// (a doubled quote inside stands for one).
class Pipeline {
 public:
  /// Parses and checks text. Option errors: `empty_pipeline`, `bad_pipeline` (with the position), `unknown_method`,
  /// `unknown_option`, `bad_option`, `learner_not_last` (behind a learner stand only stages that revise its
  /// predictions), `needs_learner` (such a stage has no learner before it), `sets_after_adapting` (sets behind a stage
  /// that corrects predictions for a target), `unexpected_grid` (a value in braces; see methods/grid.h).
  static Pipeline parse(std::string_view text);
  explicit Pipeline(std::vector<Stage> stages);

  const std::vector<Stage>& stages() const { return stages_; }
  /// Whether stage i predicts where it stands.
  bool predicts_at(std::size_t i) const;
  /// Whether it ends in a stage that predicts.
  bool predicts() const { return predicts_at(stages_.size() - 1); }
  /// Whether a column of text is one column of codes to its first stage.
  bool takes_categories() const { return stages_.front().method->takes_categories; }
  /// Whether ranks share the rows in all its stages, so that each works on its own.
  bool shared_by_ranks() const;
  /// Whether its predictions have sets or intervals.
  bool makes_sets() const { return stages_.back().method->makes_sets; }
  /// All stages but the last; there must be at least two.
  Pipeline before_last() const { return first(stages_.size() - 1); }
  /// The first `count` stages, at least one.
  Pipeline first(std::size_t count) const {
    return Pipeline({stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(count)});
  }
  /// Canonical text: options that differ from their defaults, in declaration order. parse(text()) is the same pipeline.
  std::string text() const;

 private:
  std::vector<Stage> stages_;

  /// Whether stage i is the last one, or the last before those that revise predictions.
  bool may_predict(std::size_t i) const;
};

}  // namespace ecotone
