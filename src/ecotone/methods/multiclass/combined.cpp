#include "ecotone/methods/multiclass/combined.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/memory.h"
#include "ecotone/methods/multiclass/code_matrix.h"
#include "ecotone/methods/select/selected_columns.h"

namespace ecotone {
namespace {

/// What selectors pass on together; nothing for learners.
std::optional<std::vector<Index>> selected_by(const std::vector<std::shared_ptr<const Fitted>>& binary) {
  std::vector<std::vector<Index>> lists;
  for (const auto& each : binary) {
    std::optional<std::vector<Index>> selected = each->selected();
    if (!selected) return std::nullopt;
    lists.push_back(std::move(*selected));
  }
  return in_turns(lists);
}

}  // namespace

Problems::Problems(Decomposition kind, std::vector<std::string> classes, Matrix code)
    : kind_(kind), classes_(std::move(classes)), code_(std::move(code)) {
  if (kind != Decomposition::ovo) return;
  for (Index i = 0; i < classes_count(); ++i) {
    for (Index j = i + 1; j < classes_count(); ++j) pairs_.emplace_back(i, j);
  }
}

Index Problems::count(Decomposition kind, Index classes, Index code_columns) {
  if (kind == Decomposition::ovo) return classes * (classes - 1) / 2;
  return kind == Decomposition::ova ? classes : code_columns;
}

std::vector<int> Problems::sides(Index k) const {
  std::vector<int> sides(classes_.size(), kind_ == Decomposition::ovo ? 0 : -1);
  if (kind_ == Decomposition::ova) sides[at(k)] = 1;
  if (kind_ == Decomposition::ovo) {
    sides[at(pairs_[at(k)].first)] = 1;
    sides[at(pairs_[at(k)].second)] = -1;
  }
  if (kind_ == Decomposition::ecoc) {
    for (Index r = 0; r < classes_count(); ++r) sides[at(r)] = code_(r, k) > 0 ? 1 : -1;
  }
  return sides;
}

std::vector<std::string> Problems::labels(Index k) const {
  if (kind_ == Decomposition::ova) return {"not " + classes_[at(k)], classes_[at(k)]};
  if (kind_ == Decomposition::ovo) return {classes_[at(pairs_[at(k)].second)], classes_[at(pairs_[at(k)].first)]};
  return {"-1", "+1"};
}

std::string Problems::name(Index k) const {
  if (kind_ == Decomposition::ecoc) return fmt::format("column {} of the code", k + 1);
  if (kind_ == Decomposition::ova) return fmt::format("'{}' against the rest", classes_[at(k)]);
  return fmt::format("'{}' against '{}'", classes_[at(pairs_[at(k)].first)], classes_[at(pairs_[at(k)].second)]);
}

Combined::Combined(std::string who, Problems problems, Decode decode, Ties ties,
                   std::vector<std::shared_ptr<const Fitted>> binary)
    : who_(std::move(who)),
      problems_(std::move(problems)),
      decode_(decode),
      ties_(ties),
      binary_(std::move(binary)),
      selected_(selected_by(binary_)),
      min_row_distance_(problems_.kind() == Decomposition::ecoc ? min_row_distance(problems_.code()) : 0),
      mean_row_distance_(problems_.kind() == Decomposition::ecoc ? mean_row_distance(problems_.code()) : 0) {}

Index Combined::training_rows() const {
  Index rows = 0;
  for (const auto& each : binary_) rows += each->training_rows();
  return rows;
}

bool Combined::needs_domain_sample() const {
  return std::any_of(binary_.begin(), binary_.end(), [](const auto& each) { return each->needs_domain_sample(); });
}

Features Combined::transform(const Batch& batch, const Context& context) const {
  return selected_ ? taken_columns(batch.x, *selected_, context) : batch.x;
}

Index Combined::output_cols(Index input_cols) const { return selected_ ? std::ssize(*selected_) : input_cols; }

Combined::Answers Combined::answers(const Batch& batch, const Context& context) const {
  const Index rows = batch.x.rows();
  const bool positive = problems_.kind() != Decomposition::ecoc;
  const auto bytes = sizeof(double) * static_cast<std::size_t>(rows) * binary_.size() * (positive ? 2 : 1);
  require_memory(bytes, who_, fmt::format("the predictions of {} binary models", binary_.size()),
                 "predict fewer rows at a time");
  Answers answers{Matrix(rows, problems_.count()), Matrix(positive ? rows : 0, problems_.count())};
  for (Index k = 0; k < problems_.count(); ++k) {
    context.check_cancelled();
    const Prediction prediction = binary_[at(k)]->predict(batch, context);
    answers.score.col(k) = decision_scores(prediction).col(0);
    if (positive) answers.positive.col(k) = prediction.probability.col(1);
  }
  return answers;
}

Decoded Combined::decoded_pairs(ConstVectorView score, ConstVectorView positive, Index row,
                                const Context& context) const {
  const Index classes = problems_.classes_count();
  const PairVotes votes = pair_votes(score, positive, classes);
  Random random = context.random("one versus one ties", static_cast<std::uint64_t>(row));
  // Sums of probabilities are below R, so that one vote more counts for more.
  return {ties_ == Ties::random ? votes.winner(random) : votes.winner(), couple_pairs(positive, classes, context),
          votes.votes + votes.sum_probability / static_cast<double>(classes)};
}

Decoded Combined::decoded_code(ConstVectorView score) const {
  const Vector loss = code_losses(problems_.code(), score);
  Vector probability = loss_probability(loss, mean_row_distance_);
  if (decode_ == Decode::hamming) {
    Vector nearness = -code_distances(problems_.code(), score);
    return {first_largest(nearness), std::move(probability), std::move(nearness)};
  }
  // By the probabilities, which have the order of the losses, so that losses differing only by rounding count as equal.
  return {first_largest(probability), probability, -loss};
}

Decoded Combined::decoded(ConstVectorView score, ConstVectorView positive, Index row, const Context& context) const {
  switch (problems_.kind()) {
    case Decomposition::ova:
      return decode_ova(score, positive);
    case Decomposition::ovo:
      return decoded_pairs(score, positive, row, context);
    case Decomposition::ecoc:
      return decoded_code(score);
    case Decomposition::softmax:
    case Decomposition::automatic:
      break;
  }
  internal_error("{}: this strategy has no binary problems", who_);
}

Prediction Combined::predict(const Batch& batch, const Context& context) const {
  const Features& x = batch.x;
  const Answers given = answers(batch, context);
  Prediction prediction;
  prediction.index.resize(static_cast<std::size_t>(x.rows()));
  prediction.probability.resize(x.rows(), problems_.classes_count());
  prediction.score.resize(x.rows(), problems_.classes_count());
  context.parallel(x.blocks(), [&](Index b) {
    for (Index i = x.first_row(b); i < x.first_row(b) + x.rows_in(b); ++i) {
      const Vector positive = given.positive.rows() > 0 ? Vector(given.positive.row(i).transpose()) : Vector();
      const Decoded row = decoded(given.score.row(i).transpose(), positive, i, context);
      prediction.index[at(i)] = static_cast<std::int32_t>(row.cls);
      prediction.probability.row(i) = row.probability.transpose();
      prediction.score.row(i) = row.score.transpose();
    }
  });
  return prediction;
}

StageState Combined::save() const {
  StageState state;
  Json infos = Json::array();
  for (Index k = 0; k < problems_.count(); ++k) {
    StageState binary = binary_[at(k)]->save();
    for (const auto& entry : binary.arrays()) state.set(prefix(k) + entry.first, entry.second);
    infos.push_back(std::move(binary.info));
  }
  state.info["binary"] = std::move(infos);
  if (problems_.kind() == Decomposition::ecoc) {
    state.set("code", problems_.code());
    state.info["min_row_distance"] = min_row_distance_;
    state.info["corrects"] = corrected_bits(min_row_distance_);
  }
  return state;
}

}  // namespace ecotone
