#include "ecotone/methods/query/pick.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

constexpr std::array why_names{std::string_view("seed"), std::string_view("uncertain"), std::string_view("explore"),
                               std::string_view("audit")};

/// The median distance of pairs spread over the rows.
double median_distance(ConstMatrixView x) {
  constexpr Index most_pairs = 256;
  const Index rows = x.rows();
  if (rows < 2 || x.cols() == 0) return 0;
  const Index pairs = std::min(most_pairs, rows - 1);
  std::vector<double> distances;
  for (Index i = 0; i < pairs; ++i) {
    const Index a = i * rows / pairs;
    const Index b = (a + 1 + (rows / 2 + i) % (rows - 1)) % rows;
    distances.push_back((x.row(a) - x.row(b)).norm());
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

/// ln of x!. std::lgamma would write a global sign.
double log_factorial(double x) {
  int sign = 0;
  return lgamma_r(x + 1, &sign);
}

/// ln of n over k.
double log_choose(double n, double k) { return log_factorial(n) - log_factorial(k) - log_factorial(n - k); }

/// The rows of a pool that are left, one batch after the other.
class Picker {
 public:
  Picker(const QueryPool& pool, const Strategy& strategy, Random& random)
      : pool_(pool), options_(strategy.options), by_score_(strategy.rule != QueryRule::random), random_(random) {
    left_.resize(at(pool.score.size()));
    std::iota(left_.begin(), left_.end(), Index{0});
    taken_.assign(left_.size(), false);
    ranked_ = left_;
    if (by_score_) std::ranges::sort(ranked_, [&](Index a, Index b) { return before(a, b); });
    if (options_.batch > 1 && options_.apart > 0 && pool.coordinates.rows() == pool.score.size())
      least_distance_ = options_.apart * median_distance(pool.coordinates);
  }

  bool empty() const { return left_.empty(); }
  void begin_batch() { batch_.clear(); }

  Query next() {
    const bool explores = !by_score_ || random_.uniform() < options_.explore;
    const bool narrowed = by_score_ && options_.subset > 0 && at(options_.subset) < left_.size();
    // The rows in order, of which a subset is drawn; without one only the first matters.
    const std::vector<Index> ranked = narrowed ? apart_rows() : std::vector{first_apart()};
    const double far = far_in_all();
    const Index place = explores ? at_random(far) : first_of(ranked);
    const Query query{place, explores ? Why::explore : Why::uncertain, probability(place, ranked, far)};
    left_.erase(std::ranges::lower_bound(left_, place));
    taken_[at(place)] = true;
    batch_.push_back(place);
    return query;
  }

 private:
  const QueryPool& pool_;
  const QueryOptions& options_;
  bool by_score_;
  Random& random_;
  double least_distance_ = 0;
  std::vector<Index> ranked_;  ///< all rows, the one to ask first in front
  std::vector<Index> left_;    ///< ascending
  std::vector<bool> taken_;
  std::vector<Index> batch_;  ///< picked since the last fit

  /// A score that is not a number comes last.
  double score(Index place) const { return std::isnan(pool_.score[place]) ? -INFINITY : pool_.score[place]; }
  bool before(Index a, Index b) const { return score(a) != score(b) ? score(a) > score(b) : a < b; }

  bool too_near(Index place) const {
    if (least_distance_ <= 0) return false;
    return std::ranges::any_of(batch_, [&](Index other) {
      return (pool_.coordinates.row(place) - pool_.coordinates.row(other)).norm() < least_distance_;
    });
  }

  /// The first row that is not too near to one of the batch, or the first of all if there is none.
  Index first_apart() const {
    const auto open = [&](Index place) { return !taken_[at(place)]; };
    const auto found = std::ranges::find_if(ranked_, [&](Index place) { return open(place) && !too_near(place); });
    return found != ranked_.end() ? *found : *std::ranges::find_if(ranked_, open);
  }

  /// All such rows in order.
  std::vector<Index> apart_rows() const {
    std::vector<Index> open, apart;
    for (const Index place : ranked_)
      if (!taken_[at(place)]) open.push_back(place);
    std::ranges::copy_if(open, std::back_inserter(apart), [&](Index place) { return !too_near(place); });
    return apart.empty() ? open : apart;
  }

  Index first_of(const std::vector<Index>& ranked) {
    const auto rows = static_cast<Index>(ranked.size());
    if (rows <= options_.subset || rows == 1) return ranked.front();
    return ranked[at(std::ranges::min(random_.sample(rows, options_.subset)))];
  }

  /// The sum of `far` over the rows left; 0: they are drawn evenly.
  double far_in_all() const {
    if (!by_score_ || pool_.far.size() == 0) return 0;
    double sum = 0;
    for (const Index place : left_) sum += pool_.far[place];
    return sum;
  }

  Index at_random(double far) {
    if (far <= 0 || random_.uniform() < 0.5) return left_[random_.below(left_.size())];
    double rest = random_.uniform() * far;
    for (const Index place : left_) {
      rest -= pool_.far[place];
      if (rest < 0) return place;
    }
    return left_.back();
  }

  /// explore P(at random) + (1 - explore) P(first of the subset)
  double probability(Index place, const std::vector<Index>& ranked, double far) const {
    const double evenly = 1.0 / static_cast<double>(left_.size());
    if (!by_score_) return evenly;
    const double at_random = far > 0 ? (evenly + pool_.far[place] / far) / 2 : evenly;
    const auto ahead = std::ranges::find(ranked, place) - ranked.begin();
    const auto n = static_cast<double>(ranked.size());
    const double m = std::min(n, std::max(1.0, static_cast<double>(options_.subset)));
    // C(n - 1 - ahead, m - 1) / C(n, m); 0 for a row that is too near
    const double behind = n - 1 - static_cast<double>(ahead);
    const double first = behind < m - 1 ? 0.0 : std::exp(log_choose(behind, m - 1) - log_choose(n, m));
    return options_.explore * at_random + (1 - options_.explore) * first;
  }
};

}  // namespace

std::string_view why_name(Why why) { return why_names[static_cast<std::size_t>(why)]; }

bool read_why(std::string_view name, Why& why) {
  const auto found = std::ranges::find(why_names, name);
  if (found == why_names.end()) return false;
  why = static_cast<Why>(found - why_names.begin());
  return true;
}

std::vector<Query> pick(const QueryPool& pool, const Strategy& strategy, Index count, Random& random) {
  Picker picker(pool, strategy, random);
  std::vector<Query> queries;
  for (Index i = 0; i < count && !picker.empty(); ++i) {
    if (i % strategy.options.batch == 0) picker.begin_batch();
    queries.push_back(picker.next());
  }
  return queries;
}

std::vector<Query> pick_seed(std::span<const std::int32_t> domain, Index count, Random& random) {
  std::vector<std::vector<Index>> of_domain;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    const std::size_t d = at(domain[i]);
    if (of_domain.size() <= d) of_domain.resize(d + 1);
    of_domain[d].push_back(static_cast<Index>(i));
  }
  const auto rows = static_cast<Index>(domain.size());
  count = std::min(count, rows);
  // Whole parts of each domain's share, then the largest remainders, at equal ones the earlier domain.
  std::vector<Index> share(of_domain.size(), 0);
  std::vector<std::pair<Index, std::size_t>> remainder;
  Index given = 0;
  for (std::size_t d = 0; d < of_domain.size(); ++d) {
    const Index product = count * static_cast<Index>(of_domain[d].size());
    share[d] = product / rows;
    remainder.emplace_back(-(product % rows), d);
    given += share[d];
  }
  std::ranges::sort(remainder);
  for (Index i = 0; i < count - given; ++i) ++share[remainder[at(i)].second];
  std::vector<Query> queries;
  for (std::size_t d = 0; d < of_domain.size(); ++d) {
    const auto size = static_cast<Index>(of_domain[d].size());
    for (const Index i : random.sample(size, share[d]))
      queries.push_back({of_domain[d][at(i)], Why::seed, static_cast<double>(share[d]) / static_cast<double>(size)});
  }
  return queries;
}

}  // namespace ecotone
