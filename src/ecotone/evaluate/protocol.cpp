#include "ecotone/evaluate/protocol.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/groups.h"
#include "ecotone/evaluate/time_blocks.h"

namespace ecotone {

namespace {

Index row_count(const Domains& domains) { return static_cast<Index>(domains.index.size()); }

/// Source and held-out rows of a split by domain, both ascending. Pairs with a held-out partner are in neither.
Split split_domains(const Domains& domains, std::string name, const std::vector<bool>& out) {
  Split split;
  split.name = std::move(name);
  for (Index row = 0; row < row_count(domains); ++row) {
    const std::int32_t partner = domains.partner_of(row);
    if (out[static_cast<std::size_t>(domains.index[static_cast<std::size_t>(row)])]) {
      split.held_out.push_back(row);
    } else if (partner < 0 || !out[static_cast<std::size_t>(partner)]) {
      split.source.push_back(row);
    }
  }
  return split;
}

std::vector<Split> one_domain_splits(const Domains& domains, Protocol protocol) {
  std::vector<Split> splits;
  for (Index d = 0; d < domains.count(); ++d) {
    std::vector<bool> out(domains.names.size(), false);
    out[static_cast<std::size_t>(d)] = true;
    splits.push_back(split_domains(domains, domains.names[static_cast<std::size_t>(d)], out));
    if (protocol == Protocol::adapt) splits.back().target = splits.back().held_out;
  }
  return splits;
}

/// Which domains are targets; not all can be.
std::vector<bool> target_domains(const Domains& domains, const std::vector<std::string>& target) {
  std::vector<bool> out(domains.names.size(), false);
  for (const std::string& name : target) {
    const auto found = std::ranges::find(domains.names, name);
    if (found == domains.names.end()) {
      const std::string near = did_you_mean(name, domains.names);
      data_error("unknown_domain", "evaluate: no domain '{}'{}; the domains are {}", name,
                 near.empty() ? "" : fmt::format(", did you mean '{}'?", near), some_names(domains.names));
    }
    out[static_cast<std::size_t>(found - domains.names.begin())] = true;
  }
  if (std::ranges::find(out, false) == out.end())
    data_error("needs_two_domains", "evaluate: all {} domains are targets, so none is left to train on", out.size());
  return out;
}

/// The targets together, or one split for each, which adapts to it.
std::vector<Split> target_splits(const Domains& domains, const EvaluateOptions& options) {
  const std::vector<bool> out = target_domains(domains, options.target);
  Split together = split_domains(domains, fmt::format("{}", fmt::join(options.target, ", ")), out);
  if (options.protocol != Protocol::adapt) return {std::move(together)};
  std::vector<Split> splits;
  for (Index d = 0; d < domains.count(); ++d) {
    if (!out[static_cast<std::size_t>(d)]) continue;
    Split split{0, domains.names[static_cast<std::size_t>(d)], together.source, domains.rows_of(d), {}};
    split.held_out = split.target;
    splits.push_back(std::move(split));
  }
  return splits;
}

std::vector<Split> random_domain_splits(const Domains& domains, const EvaluateOptions& options,
                                        const Context& context) {
  if (options.repetitions < 1)
    option_error("bad_option", "evaluate: repetitions must be >= 1, got {}", options.repetitions);
  if (options.held_out < 1 || options.held_out >= domains.count())
    option_error("bad_option", "evaluate: held_out must be in [1, {}] with {} domains, got {}", domains.count() - 1,
                 domains.count(), options.held_out);
  const double bytes = (static_cast<double>(row_count(domains)) * sizeof(Index) + sizeof(Split)) *
                       static_cast<double>(options.repetitions);
  require_memory(static_cast<std::size_t>(bytes), "evaluate",
                 fmt::format("{} repetitions of {} rows", options.repetitions, row_count(domains)),
                 "use fewer repetitions");
  std::vector<Split> splits;
  for (Index repetition = 0; repetition < options.repetitions; ++repetition) {
    Random random = context.random("domain-split", static_cast<std::uint64_t>(repetition));
    std::vector<bool> out(static_cast<std::size_t>(domains.count()), false);
    for (const Index d : random.sample(domains.count(), options.held_out)) out[static_cast<std::size_t>(d)] = true;
    std::string name;
    for (std::size_t d = 0; d < out.size(); ++d)
      if (out[d]) name += (name.empty() ? "" : ", ") + domains.names[d];
    splits.push_back(split_domains(domains, std::move(name), out));
    splits.back().repetition = repetition;
  }
  return splits;
}

/// The shuffled rows of each domain go to the folds in turn.
std::vector<Index> deal_rows(const Domains& domains, Index folds, const Context& context) {
  std::vector<Index> fold_of(domains.index.size());
  Index dealt = 0;  // continues across domains, so that their remainders go to different folds
  for (Index d = 0; d < domains.count(); ++d) {
    const auto rows = domains.rows_of(d);
    Random random = context.random("k-fold", static_cast<std::uint64_t>(d));
    for (const Index i : random.permutation(static_cast<Index>(rows.size())))
      fold_of[at(rows[at(i)])] = dealt++ % folds;
  }
  return fold_of;
}

std::vector<Split> fold_splits(const RowPlaces& rows, const EvaluateOptions& options, const Context& context) {
  if (options.folds < 2) option_error("bad_option", "evaluate: folds must be >= 2, got {}", options.folds);
  const bool grouped = share_groups(rows.group);
  const Index parts = grouped ? group_count(rows.group) : row_count(rows.domain);
  if (parts < 2)
    data_error("empty_data", "evaluate: k-fold needs at least two {}, got {}", grouped ? "groups" : "rows", parts);
  const Index folds = std::min<Index>(options.folds, parts);
  const std::vector<Index> fold_of =
      grouped ? deal_groups(rows.group, rows.domain.index, folds, context.random("k-fold of groups"))
              : deal_rows(rows.domain, options.folds, context);
  std::vector<Split> splits;
  for (Index fold = 0; fold < folds; ++fold) {
    Split split;
    split.name = fmt::format("fold {}", fold + 1);
    for (Index row = 0; row < row_count(rows.domain); ++row)
      (fold_of[at(row)] == fold ? split.held_out : split.source).push_back(row);
    splits.push_back(std::move(split));
  }
  return splits;
}

/// Of a block that starts at t, rows of the times [t - gap - window, t - gap) are trained on.
std::vector<Split> forward_splits(const RowPlaces& rows, const EvaluateOptions& options, const Context& context) {
  const Vector& time = rows.time;
  const std::vector<TimeBlock> blocks = time_blocks(time, options.blocks + 1, context);
  std::vector<Split> splits;
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    Split split;
    split.name = blocks[b].name(rows.dates);
    split.held_out = blocks[b].rows;
    const double end = blocks[b].first - options.gap;
    for (Index row = 0; row < time.size(); ++row)
      if (time[row] < end && (options.window == 0 || time[row] >= end - options.window)) split.source.push_back(row);
    if (split.source.empty())
      data_error("no_training_rows",
                 "evaluate: no row is left to train on before the block {}; make gap smaller, window larger or blocks "
                 "fewer",
                 split.name);
    splits.push_back(std::move(split));
  }
  return splits;
}

/// Rows with a group that has held-out rows are not trained on.
void drop_groups(std::vector<Split>& splits, const Groups& group, const Context& context) {
  if (!share_groups(group)) return;
  Index most = 0;
  for (Split& split : splits) {
    const auto before = std::ssize(split.source);
    split.source = without_groups_of(split.held_out, std::move(split.source), group);
    most = std::max<Index>(most, before - std::ssize(split.source));
    if (split.source.empty())
      data_error(
          "no_training_rows",
          "evaluate: with {} held out no row is left to train on, because every group has rows there; use k-fold",
          split.name);
  }
  if (most > 0)
    context.note("evaluate: rows with a group that has held-out rows are not trained on: up to {} {} in a split", most,
                 most == 1 ? "row" : "rows");
}

std::vector<Split> splits_of(const RowPlaces& rows, const EvaluateOptions& options, const Context& context) {
  if (options.protocol == Protocol::k_fold) return fold_splits(rows, options, context);
  if (options.protocol == Protocol::forward) return forward_splits(rows, options, context);
  const Domains& domains = rows.domain;
  if (domains.count() < 2)
    data_error("needs_two_domains",
               "evaluate: {} needs at least two domains, got {}; name the column with --domain, or use k-fold",
               protocol_name(options.protocol), domains.count());
  if (options.protocol == Protocol::domain_split) return random_domain_splits(domains, options, context);
  if (!options.target.empty()) return target_splits(domains, options);
  return one_domain_splits(domains, options.protocol);
}

}  // namespace

std::string_view protocol_name(Protocol protocol) { return protocol_names.choices[static_cast<std::size_t>(protocol)]; }

RowPlaces places_of(const Dataset& data) { return {data.domain, data.group, data.time, data.schema.time_is_date}; }

std::vector<Split> make_splits(const RowPlaces& rows, const EvaluateOptions& options, const Context& context) {
  const bool takes_target = options.protocol == Protocol::named_domains || options.protocol == Protocol::adapt;
  if (!options.target.empty() && !takes_target)
    option_error("bad_option", "evaluate: target works with the protocols named-domains and adapt, not with {}",
                 protocol_name(options.protocol));
  if (options.target.empty() && options.protocol == Protocol::named_domains)
    option_error("bad_option", "evaluate: named-domains needs the domains to score; name them with --target");
  std::vector<Split> splits = splits_of(rows, options, context);
  drop_groups(splits, rows.group, context);
  return splits;
}

Split split_without(const RowPlaces& rows, const std::vector<Index>& domains) {
  std::vector<bool> out(rows.domain.names.size(), false);
  std::vector<std::string> names;
  for (const Index domain : domains) {
    out[static_cast<std::size_t>(domain)] = true;
    names.push_back(rows.domain.names[static_cast<std::size_t>(domain)]);
  }
  Split split = split_domains(rows.domain, fmt::format("{}", fmt::join(names, ", ")), out);
  split.source = without_groups_of(split.held_out, std::move(split.source), rows.group);
  return split;
}

}  // namespace ecotone
