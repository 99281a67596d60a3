#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "ecotone/base/at_hand.h"
#include "ecotone/base/progress.h"
#include "ecotone/evaluate/finished_work.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// What is run once per repetition: a column of the table, or a data set.
struct RepeatedPart {
  std::string name;
  Digest data = {};  ///< of the files that it reads
};

/// The seed of one repetition of a part; quiet, because fits warn of what the experiment measures, such as poor
/// weights, and the table shows it.
inline Context repetition_context(const std::string& part, int repetition, const Context& context) {
  return context.derived("reproduce/" + part, static_cast<std::uint64_t>(repetition)).observed_by(nullptr);
}

/// One cell for each name, with its value in every repetition.
inline std::vector<Cell> cells_of(const std::vector<CellName>& names,
                                  const std::vector<std::vector<double>>& repetitions) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Cell& cell = cells.emplace_back(Cell{names[i].first, names[i].second, {}});
    for (const std::vector<double>& values : repetitions) cell.values.push_back(values.at(i));
  }
  return cells;
}

/// run(number of the part, context) of every part and repetition, at most `at_most` at once (0: as many as there are
/// threads; work inside them then runs inline). The results of the first part come first. A journal keeps each.
template <class Result, class Run>
std::vector<Result> run_repetitions(const ExperimentItem& item, const std::vector<RepeatedPart>& parts,
                                    const ReproduceOptions& options, int at_most, const Context& context, Run&& run) {
  const auto repetitions = static_cast<std::size_t>(options.repetitions);
  const FinishedWork finished(options.journal, "reproduce");
  const Messages silent;
  const auto context_of = [&](std::size_t task) {
    return repetition_context(parts[task / repetitions].name, static_cast<int>(task % repetitions), context);
  };
  const auto key_of = [&](std::size_t task) {
    const RepeatedPart& part = parts[task / repetitions];
    Digest key = finished.key();
    key.add(item.kind).add(item.metric).add(item.recipe.dump()).add(part.name).add(part.data);
    return key.add(context_of(task).seed());
  };
  std::vector<Result> results(parts.size() * repetitions);
  std::vector<std::size_t> left;
  for (std::size_t task = 0; task < results.size(); ++task) {
    Messages none;
    const auto any = [](const Result&) { return true; };
    if (!finished.kept() || !finished.take(key_of(task), results[task], none, any)) left.push_back(task);
  }
  Progress progress(context.observer(), "reproduce", std::ssize(left));
  const auto run_one = [&](Index i) {
    const std::size_t task = left[at(i)];
    const std::size_t part = task / repetitions;
    tell_at_hand(context, [&] { return fmt::format("{}, repetition {}", parts[part].name, task % repetitions + 1); });
    results[task] = run(part, context_of(task));
    if (finished.kept()) finished.keep(key_of(task), results[task], silent);
    progress.advance();
  };
  context.parallel(std::ssize(left), run_one, at_most);
  return results;
}

}  // namespace ecotone
