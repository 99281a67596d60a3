#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/multiclass/decode.h"
#include "ecotone/methods/multiclass/multiclass.h"

namespace ecotone {

/// The binary problems that a multiclass problem is split into.
class Problems {
 public:
  /// Without a code: ova or ovo.
  Problems(Decomposition kind, std::vector<std::string> classes, Matrix code = {});

  /// The number of problems for this many classes.
  static Index count(Decomposition kind, Index classes, Index code_columns);

  Index count() const { return count(kind_, classes_count(), code_.cols()); }
  Index classes_count() const { return static_cast<Index>(classes_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  Decomposition kind() const { return kind_; }
  const Matrix& code() const { return code_; }

  /// +1 or -1 for each class in problem k; 0: its rows are left out.
  std::vector<int> sides(Index k) const;

  /// The two classes of problem k; the second is +1.
  std::vector<std::string> labels(Index k) const;

  /// As in messages: "'a' against the rest".
  std::string name(Index k) const;

 private:
  Decomposition kind_;
  std::vector<std::string> classes_;
  Matrix code_;
  std::vector<std::pair<Index, Index>> pairs_;
};

/// Predicts one of several classes from fitted binary learners. Of selectors it passes on all columns that any of them
/// passes on, in turns: the first of every problem, then the second of every problem, and so on, each once.
class Combined : public Fitted {
 public:
  Combined(std::string who, Problems problems, Decode decode, Ties ties,
           std::vector<std::shared_ptr<const Fitted>> binary);

  /// The prefix of the names of model k's arrays.
  static std::string prefix(Index k) { return fmt::format("binary{}/", k); }

  Features transform(const Batch& batch, const Context& context) const override;
  Index output_cols(Index input_cols) const override;
  std::optional<std::vector<Index>> selected() const override { return selected_; }
  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;
  bool needs_domain_sample() const override;
  Index training_rows() const override;

 private:
  std::string who_;
  Problems problems_;
  Decode decode_;
  Ties ties_;
  std::vector<std::shared_ptr<const Fitted>> binary_;
  std::optional<std::vector<Index>> selected_;  ///< of selectors
  Index min_row_distance_;                      ///< of the code; else 0
  double mean_row_distance_;

  /// Predictions of the binary learners: a row per row of the batch, a column per problem.
  struct Answers {
    Matrix score;
    Matrix positive;  ///< probability of +1; ova and ovo
  };
  Answers answers(const Batch& batch, const Context& context) const;
  Decoded decoded(ConstVectorView score, ConstVectorView positive, Index row, const Context& context) const;
  Decoded decoded_pairs(ConstVectorView score, ConstVectorView positive, Index row, const Context& context) const;
  Decoded decoded_code(ConstVectorView score) const;
};

}  // namespace ecotone
