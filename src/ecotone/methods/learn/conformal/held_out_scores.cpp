#include "ecotone/methods/learn/conformal/held_out_scores.h"

#include <algorithm>
#include <cmath>

namespace ecotone {

ClassScore class_score_of(ConformalScore score) {
  return score == ConformalScore::aps    ? ClassScore::aps
         : score == ConformalScore::raps ? ClassScore::raps
                                         : ClassScore::lac;
}
NumberScore number_score_of(ConformalScore score) {
  return score == ConformalScore::scaled ? NumberScore::scaled : NumberScore::absolute;
}

HeldOutScoresOfDomains::HeldOutScoresOfDomains(const Upstream& upstream, const CrossFit& cross, ConformalScore score)
    : y_(upstream.view.y), cross_(cross), score_(score) {
  const TrainView& view = upstream.view;
  std::vector<Index> place(view.domain.names.size(), -1);
  for (std::size_t i = 0; i < cross.rows.size(); ++i) {
    const Index row = cross.rows[i];
    if (view.weight_of(row) == 0) continue;
    Index& own = place[at(view.domain.index[at(row)])];
    if (own < 0) {
      own = std::ssize(names_);
      names_.push_back(view.domain.names[at(view.domain.index[at(row)])]);
      domains_.emplace_back();
      rows_.emplace_back();
    }
    domains_[at(own)].score.push_back(score_of(static_cast<Index>(i)));
    domains_[at(own)].weight.push_back(view.weight_of(row));
    rows_[at(own)].push_back(static_cast<Index>(i));
  }
}

ScoredDomains HeldOutScoresOfDomains::without(std::size_t domain) const {
  ScoredDomains others = domains_;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(domain));
  return others;
}

Index HeldOutScoresOfDomains::count() const {
  Index rows = 0;
  for (const auto& own : rows_) rows += std::ssize(own);
  return rows;
}

double HeldOutScoresOfDomains::size_at(Index i, double quantile) const {
  if (y_.task == Task::classify)
    return static_cast<double>(
        class_set(class_scores(cross_.probability.row(i).transpose(), class_score_of(score_)), quantile).size());
  const NumberInterval interval = number_interval(number_score_of(score_), cross_.value[i], scale_of(i), quantile);
  return std::max(0.0, interval.high - interval.low);
}

double HeldOutScoresOfDomains::scale_of(Index i) const {
  return cross_.variance.size() > 0 ? std::sqrt(cross_.variance[i]) : 1;
}

double HeldOutScoresOfDomains::score_of(Index i) const {
  const Index row = cross_.rows[at(i)];
  if (y_.task == Task::classify)
    return class_scores(cross_.probability.row(i).transpose(), class_score_of(score_))[y_.index[at(row)]];
  return number_score(number_score_of(score_), y_.value[row], cross_.value[i], scale_of(i));
}

}  // namespace ecotone
