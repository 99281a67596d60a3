#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/data/groups.h"
#include "ecotone/label/desk_impl.h"

namespace ecotone {
namespace {

constexpr Index neighbours_shown = 2;
/// A page that has not asked for so long is closed, and its row may be asked elsewhere.
constexpr auto forgotten = std::chrono::seconds(60);
constexpr auto closed_for_good = std::chrono::hours(2);
/// The smallest audit reserve: the budget may be raised later, and rows asked for another reason are no random sample.
constexpr Index least_reserve = 200;

}  // namespace

void Desk::Impl::find_rows() {
  LabelRows rows = label_rows(data, Hide::nothing);
  known = std::move(rows.known);
  pool = std::move(rows.pool);
  if (pool.empty())
    data_error("empty_data",
               "label: nothing to ask, every row{} has a label; --simulate shows what labels would have been worth",
               known.empty() ? "" : " of the target");
  status.assign(at(data.rows()), Status::closed);
  place.assign(at(data.rows()), -1);
  for (std::size_t i = 0; i < pool.size(); ++i) {
    status[at(pool[i])] = Status::open;
    place[at(pool[i])] = static_cast<Index>(i);
    by_origin.emplace(origin_of(data.origin, pool[i]), pool[i]);
  }
}

void Desk::Impl::draw_reserve() {
  reserved.assign(at(data.rows()), 0);
  // Drawn once: a later budget, seed or share of audits must not make rows asked for another reason audits.
  const Json kept = Json::parse(store.kept("reserve").value_or("[]"), nullptr, false);
  if (kept.is_array())
    for (const Json& origin : kept)
      if (const auto row = by_origin.find(origin.is_number_integer() ? origin.get<Index>() : -1);
          row != by_origin.end())
        audit_order.push_back(row->second);
  if (options.audit > 0 && audit_order.empty()) {
    std::vector<Index> fresh, answered;
    for (const Index row : pool) (open(row) ? fresh : answered).push_back(row);
    fresh = without_groups_of(answered, std::move(fresh), data.group);
    const Index wanted = std::max(least_reserve, 2 * options.budget / options.audit);
    Random random = context.random("audit rows");
    const std::vector<Index> reserve =
        draw_groups(fresh, data.group, std::min<Index>(wanted, std::ssize(fresh) / 2), random);
    for (const Index i : random.permutation(std::ssize(reserve))) audit_order.push_back(reserve[at(i)]);
    Json origins = Json::array();
    for (const Index row : audit_order) origins.push_back(origin_of(data.origin, row));
    store.keep("reserve", origins.dump());
  }
  for (const Index row : audit_order) reserved[at(row)] = 1;
  learned_from_start = without_groups_of(audit_order, known, data.group);
}

void Desk::Impl::draw_seed() {
  std::vector<std::int32_t> domain;
  for (const Index row : pool) domain.push_back(data.domain.index[at(row)]);
  Random random = context.random("order of questions");
  // The first `seed_size` from every domain in proportion, then all others.
  std::vector<Index> order;
  std::vector<char> placed(pool.size(), 0);
  for (const Query& query : pick_seed(domain, strategy.options.seed_size, random)) {
    order.push_back(query.place);
    placed[at(query.place)] = 1;
  }
  for (const Index i : random.permutation(std::ssize(pool)))
    if (placed[at(i)] == 0) order.push_back(i);
  for (const Index i : order)
    if (reserved[at(pool[at(i)])] == 0) seed_order.push_back(pool[at(i)]);
}

std::set<Index> Desk::Impl::held_by_others(const std::string& page) const {
  const auto now = std::chrono::steady_clock::now();
  std::set<Index> rows;
  for (const auto& [other, questions] : asked) {
    // Rounds have rows of their own; elsewhere, rows of earlier ones may be asked again.
    if (other == page || (other == earlier_rounds && !in_round)) continue;
    const auto found = seen.find(other);
    const bool gone = found != seen.end() && now - found->second > forgotten;
    if (gone && other != spreadsheet) continue;
    for (const Asked& question : questions) rows.insert(question.row);
  }
  return rows;
}

std::optional<Asked> Desk::Impl::next_audit(const std::set<Index>& held) const {
  Index drawn = 0;
  for (const Index row : audit_order) {
    if (open(row) && !held.contains(row))
      return Asked{row, Why::audit, 1.0 / static_cast<double>(std::ssize(pool) - drawn), latest->labels};
    ++drawn;
  }
  return {};
}

std::optional<Asked> Desk::Impl::next(const std::string& page) {
  if (auto& own = asked[page]; !own.empty()) {
    std::erase_if(own, [&](const Asked& question) { return !open(question.row); });
    if (!own.empty()) return own.front();
  }
  // Rounds are made by round().
  if (page == spreadsheet) return {};
  if (counts.labels >= options.budget) return {};
  const std::set<Index> held = held_by_others(page);
  const Index number = std::ssize(answers) + std::ssize(held) + 1;
  if (options.audit > 0 && number % options.audit == 0)
    if (const std::optional<Asked> audit = next_audit(held)) return ask(page, *audit);
  for (const Asked& ranked : latest->ranking)
    if (open(ranked.row) && !held.contains(ranked.row)) return ask(page, ranked);
  // Before the first model, or where the ranking is used up: at random.
  const Why why = latest->model ? Why::explore : Why::seed;
  const auto left = static_cast<double>(std::ranges::count_if(seed_order, [&](Index row) { return open(row); }));
  for (const Index row : seed_order)
    if (open(row) && !held.contains(row)) return ask(page, {row, why, 1 / left, latest->labels});
  // Nothing but the reserve is left, which is asked for audits whatever the number of the question.
  if (const std::optional<Asked> audit = next_audit(held)) return ask(page, *audit);
  return {};
}

Asked& Desk::Impl::ask(const std::string& page, Asked question) {
  asked[page] = {std::move(question)};
  if (!in_round) keep_asked();
  return asked[page].front();
}

std::optional<Belief> Desk::Impl::belief(Index row, const FitResult& fit) const {
  if (!fit.model) return {};
  const Index i = place[at(row)];
  Belief belief;
  if (y.task == Task::regress) {
    belief.value = fit.prediction.value[i];
    if (fit.prediction.variance.size() > 0) belief.sd = std::sqrt(fit.prediction.variance[i]);
    return belief;
  }
  for (const std::string& name : y.classes) {
    const auto found = std::ranges::find(fit.model->classes(), name);
    belief.probability.push_back(found == fit.model->classes().end()
                                     ? 0.0
                                     : fit.prediction.probability(i, found - fit.model->classes().begin()));
  }
  return belief;
}

void Desk::Impl::note_belief(const std::string& page, const Question& question) {
  if (!question.belief) return;
  const std::lock_guard lock(mutex);
  const auto own = asked.find(page);
  if (own == asked.end()) return;
  for (Asked& shown : own->second)
    if (shown.row == question.row && shown.belief.empty())
      shown.belief = question.belief->value ? fmt::format("{:.6g}", *question.belief->value)
                                            : fmt::format("{:.4g}", fmt::join(question.belief->probability, " "));
}

std::string Desk::Impl::reason(const Asked& question, const FitResult& fit, const NearRows& near) const {
  switch (question.why) {
    case Why::audit:
      return "This row measures how good the model is. Answer from the values alone.";
    case Why::seed:
      return background && !background->error().empty()
                 ? "Drawn at random, because the model cannot be fitted."
                 : "Drawn at random, because there are too few labels for a model yet.";
    case Why::explore:
      return near.new_region ? "Drawn at random, and unlike any row labelled so far: a new region."
                             : "Drawn at random, to find where the model is wrong without knowing it.";
    case Why::uncertain:
      break;
  }
  std::string text = strategy.rule == QueryRule::neighbours ? "The labelled rows nearest to this one disagree"
                     : y.task == Task::regress              ? "The model is unsure of this number"
                                                            : "The model is unsure of this row";
  if (question.model_labels < fit.labels && strategy.rule != QueryRule::neighbours)
    text = "The model was unsure of this row when it was chosen";
  return text + (near.new_region ? ", and nothing like it is labelled yet." : ".");
}

Question Desk::Impl::describe(const Asked& question, const FitResult& fit) const {
  const bool audit = question.why == Why::audit;
  Question result;
  result.row = question.row;
  result.origin = origin_of(data.origin, question.row);
  result.domain = data.domain.names[at(data.domain.index[at(question.row)])];
  result.why = question.why;
  result.answered = question.answered;
  // The order of an audit row's fields would give the model's view away.
  result.fields = facts.fields(question.row, audit ? nullptr : fit.model.get(), context);
  NearRows near = facts.near(question.row, fit.labelled, fit.y, neighbours_shown, result.fields);
  result.reason = reason(question, fit, near);
  if (audit) return result;
  result.neighbours = std::move(near.rows);
  result.belief = belief(question.row, fit);
  return result;
}

void Desk::Impl::keep_asked() {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(seen, [&](const auto& page) { return now - page.second > closed_for_good; });
  std::erase_if(asked, [&](const auto& page) {
    return page.first != spreadsheet && page.first != earlier_rounds && !seen.contains(page.first);
  });
  Json pages = Json::object();
  for (const auto& [page, questions] : asked)
    for (const Asked& question : questions)
      pages[page].push_back({{"row", origin_of(data.origin, question.row)},
                             {"why", why_name(question.why)},
                             {"probability", question.probability},
                             {"model_labels", question.model_labels}});
  store.keep("asked", pages.dump());
}

void Desk::Impl::load_asked() {
  const Json pages = Json::parse(store.kept("asked").value_or("{}"), nullptr, false);
  if (!pages.is_object()) return;
  for (const auto& [page, questions] : pages.items()) {
    for (const Json& question : questions) {
      Asked read;
      const auto row = by_origin.find(question.value("row", Index{-1}));
      if (row == by_origin.end() || !open(row->second) || !read_why(question.value("why", ""), read.why)) continue;
      read.row = row->second;
      read.probability = question.value("probability", 1.0);
      read.model_labels = question.value("model_labels", Index{0});
      asked[page].push_back(read);
    }
    seen[page] = std::chrono::steady_clock::now();
  }
}

}  // namespace ecotone
