#include <algorithm>
#include <cmath>

#include "ecotone/choose/choose.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

/// Numbers of the metric, with the decimals that four digits of the largest score need.
class Numbers {
 public:
  explicit Numbers(const Choice& choice) {
    if (choice.task == Task::classify || choice.metric == "r2") return;
    double largest = 0;
    for (const TargetTruth& target : choice.targets)
      for (const auto& score : target.score) largest = std::max(largest, std::abs(score.value_or(0)));
    const double magnitude = largest > 0 ? std::floor(std::log10(largest)) : 0;
    decimals_ = static_cast<int>(std::clamp(3 - magnitude, 0.0, 7.0));
  }
  std::string text(const std::optional<double>& value) const {
    return value ? fmt::format("{:.{}f}", *value == 0 ? 0.0 : *value, decimals_) : "-";
  }
  std::string difference(const std::optional<double>& value) const {
    return value ? fmt::format("{:+.{}f}", *value == 0 ? 0.0 : *value, decimals_) : "-";
  }

 private:
  int decimals_ = 4;
};

std::string correlation(const std::optional<double>& value) { return value ? fmt::format("{:+.2f}", *value) : "-"; }

/// Lines of cells; the first line is the head, the first column is left-aligned, a rule follows the lines in `rules`.
struct Grid {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::size_t> rules;

  std::string text() const {
    std::vector<Index> width(lines.front().size(), 0);
    for (const auto& line : lines)
      for (std::size_t j = 0; j < line.size(); ++j) width[j] = std::max(width[j], display_width(line[j]));
    Index total = 0;
    for (std::size_t j = 0; j < width.size(); ++j) total += width[j] + (j > 0 ? 2 : 0);
    std::string rule;
    for (Index i = 0; i < total; ++i) rule += "─";
    std::string result;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t j = 0; j < width.size(); ++j)
        result += j == 0 ? pad_right(lines[i][j], width[j]) : "  " + pad_left(lines[i][j], width[j]);
      result += "\n";
      if (std::ranges::find(rules, i) != rules.end()) result += rule + "\n";
    }
    return result;
  }
};

std::string legend(const Choice& choice) {
  std::string text;
  const Index width = display_width(letter_name(choice.candidates.size() - 1));
  for (std::size_t c = 0; c < choice.candidates.size(); ++c)
    text +=
        fmt::format("  {}  {}{}\n", pad_right(letter_name(c), width),
                    display_text(choice.candidates[c], page_width - 24 - width), c == 0 ? "   (no adaptation)" : "");
  return text;
}

std::string title(const Choice& choice) {
  const MetricInfo& metric = *find_metric(choice.metric);
  return fmt::format(
      "{} in each domain of the candidate chosen without that domain's labels\nadapt · {} domains, {} candidate{} · {} "
      "is better\n\n{}\n",
      metric.title, choice.targets.size(), choice.candidates.size(), choice.candidates.size() == 1 ? "" : "s",
      metric.higher_is_better() ? "higher" : "lower", legend(choice));
}

/// One scorer: a line per target.
std::string one_scorer(const Choice& choice, const Numbers& numbers) {
  const ScorerChoice& scorer = choice.scorers.front();
  Grid grid;
  grid.lines.push_back(
      {"domain", "rows", "scorer", "chosen", "score", "best", "its score", "none", "regret", "gain", "rank"});
  const bool reasons = scorer.scorer == Scorer::automatic;
  if (reasons) grid.lines.back().emplace_back("decided by");
  const std::size_t shown = std::min(scorer.targets.size(), most_domains);
  for (std::size_t t = 0; t < shown; ++t) {
    const TargetChoice& target = scorer.targets[t];
    const TargetTruth& truth = choice.targets[t];
    grid.lines.push_back({display_text(target.domain, longest_domain), fmt::format("{}", truth.rows),
                          std::string(scorer_name(target.used)), letter_name(target.chosen), numbers.text(target.score),
                          truth.best ? letter_name(*truth.best) : "-",
                          truth.best ? numbers.text(truth.score[*truth.best]) : "-", numbers.text(truth.score[0]),
                          numbers.text(target.regret), numbers.difference(target.gain),
                          correlation(target.rank_correlation)});
    if (reasons) grid.lines.back().push_back(target.decided_by);
  }
  grid.rules = {0, grid.lines.size() - 1};
  grid.lines.push_back({"mean", "", "", "", numbers.text(scorer.mean.score), "", numbers.text(choice.best.score),
                        numbers.text(choice.reference.score), numbers.text(scorer.mean.regret),
                        numbers.difference(scorer.mean.gain), correlation(scorer.mean.rank_correlation)});
  if (reasons) grid.lines.back().emplace_back();
  std::string text = grid.text();
  if (shown < scorer.targets.size())
    text += fmt::format("({} more domains are in the mean; --json lists them)\n", scorer.targets.size() - shown);
  return text +
         fmt::format(
             "\nits score: score of the best candidate; none: score without adaptation, whose mean regret is {}\n",
             numbers.text(choice.reference.regret));
}

/// Several scorers: a line each.
std::string all_scorers(const Choice& choice, const Numbers& numbers) {
  Grid grid;
  grid.lines.push_back({"scorer", "score", "regret", "gain", "rank"});
  const auto add = [&](std::string_view name, const ScorerSummary& mean) {
    grid.lines.push_back({std::string(name), numbers.text(mean.score), numbers.text(mean.regret),
                          numbers.difference(mean.gain), correlation(mean.rank_correlation)});
  };
  for (const ScorerChoice& scorer : choice.scorers) add(scorer_name(scorer.scorer), scorer.mean);
  grid.rules = {0, grid.lines.size() - 1};
  add("no adaptation", choice.reference);
  add("best possible", choice.best);
  std::string text = grid.text();
  for (const ScorerChoice& scorer : choice.scorers)
    if (!scorer.error_code.empty())
      text += fmt::format("\n{} could not be used {}\n", scorer_name(scorer.scorer), scorer.error);
  return text + "\nmeans over the domains\n";
}

}  // namespace

std::string choice_table(const Choice& choice) {
  const Numbers numbers(choice);
  return title(choice) + (choice.scorers.size() == 1 ? one_scorer(choice, numbers) : all_scorers(choice, numbers)) +
         "regret: shortfall from the best candidate; gain: over no adaptation; rank: correlation of estimated and true "
         "ranks\n";
}

}  // namespace ecotone
