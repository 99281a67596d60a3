#include "ecotone/measure/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"

namespace ecotone {

Ranking::Ranking(std::span<const std::uint8_t> positive, std::span<const double> score) {
  if (score.size() > std::numeric_limits<std::uint32_t>::max()) internal_error("{} rows to rank", score.size());
  // A NaN would break the sort.
  ranked_ = std::none_of(score.begin(), score.end(), [](double s) { return std::isnan(s); });
  if (!ranked_) return;
  places_.reserve(score.size());
  for (std::uint32_t i = 0; i < score.size(); ++i) places_.push_back({i, positive[i] != 0, true});
  std::sort(places_.begin(), places_.end(),
            [&](const Place& a, const Place& b) { return score[a.row] < score[b.row]; });
  for (std::size_t i = 0; i + 1 < places_.size(); ++i)
    places_[i].ends_run = score[places_[i + 1].row] != score[places_[i].row];
}

std::optional<double> Ranking::auroc(RowWeights weight) const {
  if (!ranked_) return {};
  double positive = 0;  // weight below the run
  double negative = 0;
  double wins = 0;
  double tied[2] = {0, 0};  // negative and positive weight in the run
  for (const Place& place : places_) {
    tied[place.positive] += weight_at(weight, place.row);
    if (!place.ends_run) continue;
    // A positive row wins against the negative ones below it, and half against those of equal score.
    wins += tied[1] * (negative + 0.5 * tied[0]);
    negative += tied[0];
    positive += tied[1];
    tied[0] = tied[1] = 0;
  }
  if (positive == 0 || negative == 0) return {};
  return wins / (positive * negative);
}

std::optional<double> Ranking::average_precision(RowWeights weight) const {
  if (!ranked_) return {};
  double positive = 0;  // weight from the top down to the run
  double negative = 0;
  double sum = 0;
  // Downwards, a run goes on until the next row ends another one.
  for (std::size_t i = places_.size(); i > 0;) {
    double tied = 0;
    do {
      const Place& place = places_[--i];
      const double w = weight_at(weight, place.row);
      tied += place.positive ? w : 0;
      negative += place.positive ? 0 : w;
    } while (i > 0 && !places_[i - 1].ends_run);
    if (tied == 0) continue;
    positive += tied;
    // The gain in recall times the precision down to here.
    sum += tied * (positive / (positive + negative));
  }
  if (positive == 0 || negative == 0) return {};
  return sum / positive;
}

}  // namespace ecotone
