#include "ecotone/label/desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/label/column_facts.h"
#include "ecotone/label/desk_impl.h"

namespace ecotone {
namespace {

/// All classes that may be answered, and the labels of the data in them.
Labels with_classes(const Labels& y, const std::vector<std::string>& further) {
  if (y.task == Task::regress) return y;
  Labels result = y;
  for (const std::string& name : further)
    if (std::ranges::find(result.classes, name) == result.classes.end()) result.classes.push_back(name);
  sort_classes(result.classes);
  for (std::int32_t& index : result.index) {
    if (index < 0) continue;
    const auto place = std::ranges::find(result.classes, y.classes[at(index)]);
    index = static_cast<std::int32_t>(place - result.classes.begin());
  }
  if (result.classes.size() < 2)
    data_error("one_class", "label: fewer than two classes to answer with ({}); name them with --classes",
               result.classes.empty() ? "none" : result.classes[0]);
  return result;
}

const Labels& labels_of(const Dataset& data) {
  if (!data.y) data_error("no_labels", "label: the data have no label column; name it with --label");
  return *data.y;
}

}  // namespace

Desk::Impl::Impl(const Dataset& given, const Pipeline& of, const DeskOptions& how, LabelStore& journal,
                 const Context& outer)
    : data(given),
      pipeline(of),
      options(how),
      strategy(how.strategy.value_or(default_strategy(labels_of(given).task))),
      store(journal),
      context({.threads = std::max(1, outer.threads() - 1),
               .seed = outer.seed(),
               .observer = nullptr,
               .cancel = &cancelled}),
      facts(given, outer),
      growing(given, of),
      y(with_classes(labels_of(given), how.classes)) {
  if (!pipeline.predicts())
    option_error("no_learner", "label: the pipeline '{}' has no learner at its end", pipeline.text());
  if (strategy.options.domain_aware && !data.has_target())
    data_error("no_target", "label: domain_aware needs a target to spend the labels in; name it with --target");
  find_rows();
  const std::vector<LabelEvent> events = store.events();
  replay(events);
  // No two processes draw the same rows at random.
  fits = static_cast<std::uint64_t>(events.size()) << 20U;
  draw_reserve();
  draw_seed();
  load_asked();
  load_curve();
  load_compared();
  latest = std::make_shared<const FitResult>(FitResult{nullptr, y, learned_from_start, 0, {}, {}, {}});
  background = std::make_unique<Background>([this] { fit(); });
  background->wake();
}

Desk::Impl::~Impl() {
  cancelled.request();
  background.reset();
}

void Desk::Impl::replay(const std::vector<LabelEvent>& events) {
  for (const LabelEvent& event : events) {
    requests.insert(event.request);
    if (event.kind != AnswerKind::undo) {
      if (!by_origin.contains(event.row))
        file_error("other_data",
                   "{} has an answer for row {}, which may not be asked now; are data, --where and "
                   "--target the same?",
                   store.path().string(), event.row + 1);
      apply(event);
    } else if (const auto found = answers.find(event.undoes); found != answers.end()) {
      revoke(LabelEvent(found->second));
    }
  }
}

Index Desk::Impl::row_of(Index origin) const {
  const auto found = by_origin.find(origin);
  if (found == by_origin.end()) data_error("not_asked", "row {} is not one of those that may be asked", origin + 1);
  return found->second;
}

void Desk::Impl::set_label(Index row, const std::string& label) {
  if (y.task == Task::classify) {
    const auto found = std::ranges::find(y.classes, label);
    y.index[at(row)] = found == y.classes.end() ? -1 : static_cast<std::int32_t>(found - y.classes.begin());
  } else {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!label.empty()) parse_number(label, value);
    y.value[row] = value;
  }
}

std::string Desk::Impl::checked_label(const std::string& label) const {
  if (y.task == Task::classify) {
    if (std::ranges::find(y.classes, label) == y.classes.end())
      data_error("bad_label", "'{}' is not one of the classes {}", label, fmt::join(y.classes, ", "));
    return label;
  }
  double value = 0;
  if (!parse_number(trim(label), value) || !(std::abs(value) <= largest_label))
    data_error("bad_label", "'{}' is not a number to learn from", label);
  return number_text(value);
}

void Desk::Impl::apply(const LabelEvent& event) {
  const Index row = row_of(event.row);
  answers[event.id] = event;
  by_page[event.page].push_back(event.id);
  count(event, 1);
  status[at(row)] = event.kind == AnswerKind::label    ? Status::labelled
                    : event.kind == AnswerKind::unsure ? Status::unsure
                                                       : Status::skipped;
  if (event.kind == AnswerKind::label) set_label(row, event.label);
}

void Desk::Impl::revoke(const LabelEvent& event) {
  const Index row = row_of(event.row);
  status[at(row)] = Status::open;
  set_label(row, "");
  count(event, -1);
  std::erase(by_page[event.page], event.id);
  answers.erase(event.id);
}

void Desk::Impl::count(const LabelEvent& event, Index by) {
  counts.labels += event.kind == AnswerKind::label ? by : 0;
  counts.unsure += event.kind == AnswerKind::unsure ? by : 0;
  counts.skipped += event.kind == AnswerKind::skip ? by : 0;
  counts.audits += event.kind == AnswerKind::label && event.why == Why::audit ? by : 0;
}

const LabelEvent* Desk::Impl::last_answer(const std::string& page) const {
  const auto own = by_page.find(page);
  if (own != by_page.end() && !own->second.empty()) return &answers.at(own->second.back());
  return answers.empty() ? nullptr : &answers.rbegin()->second;
}

DeskProgress Desk::Impl::progress() const {
  DeskProgress result = counts;
  result.budget = options.budget;
  result.model_labels = latest->labels;
  result.fitting = background && background->busy();
  result.metric = y.task == Task::classify ? "accuracy" : "rmse";
  result.estimate = estimate;
  result.curve = curve;
  if (!changes.empty()) result.changed = changes.back();
  result.advice = label_advice(y.task, result.labels, estimate, changes);
  result.problem = background ? background->error() : "";
  if (!result.problem.empty()) {
    result.advice.text = fmt::format("The model cannot be fitted, so rows are asked at random: {}", result.problem);
  } else if (!latest->problem.empty()) {
    result.problem = latest->problem;
    result.advice.text = fmt::format("Rows cannot be ranked and are asked at random: {}", result.problem);
  }
  return result;
}

Desk::Desk(const Dataset& data, const Pipeline& pipeline, const DeskOptions& options, LabelStore& store,
           const Context& context)
    : impl_(std::make_unique<Impl>(data, pipeline, options, store, context)) {}

Desk::~Desk() = default;

DeskState Desk::Impl::state_of(const std::string& page) {
  DeskState result;
  std::optional<Asked> current;
  std::shared_ptr<const FitResult> fit;
  {
    const std::lock_guard lock(mutex);
    seen[page] = std::chrono::steady_clock::now();
    result.progress = progress();
    result.can_undo = !answers.empty();
    current = next(page);
    fit = latest;
    if (!current) {
      const bool spent = result.progress.labels >= options.budget;
      result.progress.advice.text = (spent ? fmt::format("All {} labels of the budget are given. ", options.budget)
                                           : std::string("No row is left to ask. ")) +
                                    result.progress.advice.text;
    }
  }
  if (current) {
    result.question = describe(*current, *fit);
    note_belief(page, *result.question);
  }
  return result;
}

DeskState Desk::state(const std::string& page) { return impl_->state_of(page); }

DeskState Desk::answer(const Answer& answer) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->requests.contains(answer.request)) {
      const Index row = impl_->row_of(answer.origin);
      if (!impl_->open(row)) data_error("answered", "row {} has been answered already", answer.origin + 1);
      const bool earlier =
          answer.page == spreadsheet &&
          std::ranges::find(impl_->asked[spreadsheet], row, &Asked::row) == impl_->asked[spreadsheet].end();
      std::vector<Asked>& asked = impl_->asked[earlier ? Impl::earlier_rounds : answer.page];
      const auto found = std::ranges::find(asked, row, &Asked::row);
      if (found == asked.end()) data_error("not_asked", "row {} was not asked here", answer.origin + 1);
      LabelEvent event;
      event.page = answer.page;
      event.request = answer.request;
      event.kind = answer.kind;
      event.row = answer.origin;
      if (answer.kind == AnswerKind::label) event.label = impl_->checked_label(answer.label);
      event.why = found->why;
      event.probability = found->probability;
      event.model_labels = found->model_labels;
      event.belief = found->belief;
      impl_->apply(impl_->store.add(std::move(event)));
      impl_->requests.insert(answer.request);
      asked.erase(found);
      if (impl_->reserved[at(row)]) impl_->update_estimate();
    }
  }
  impl_->background->wake();
  return impl_->state_of(answer.page);
}

DeskState Desk::undo(const std::string& page, const std::string& request) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->requests.contains(request)) {
      const LabelEvent* last = impl_->last_answer(page);
      if (last == nullptr) data_error("nothing_to_undo", "nothing is left to undo");
      const LabelEvent taken_back = *last;
      LabelEvent event;
      event.page = page;
      event.request = request;
      event.kind = AnswerKind::undo;
      event.row = taken_back.row;
      event.undoes = taken_back.id;
      event.why = taken_back.why;
      impl_->store.add(std::move(event));
      impl_->requests.insert(request);
      impl_->seen[page] = std::chrono::steady_clock::now();
      impl_->revoke(taken_back);
      const Index row = impl_->row_of(taken_back.row);
      const Asked again{
          row,
          taken_back.why,
          taken_back.probability,
          taken_back.model_labels,
          taken_back.kind == AnswerKind::label ? taken_back.label : std::string(answer_name(taken_back.kind)),
          taken_back.belief};
      if (page != spreadsheet) impl_->asked[page] = {again};
      // A row of a round stays open there, whoever takes its answer back.
      if (taken_back.page == spreadsheet) impl_->asked[spreadsheet].push_back(again);
      impl_->keep_asked();
      if (impl_->reserved[at(row)]) impl_->update_estimate();
    }
  }
  impl_->background->wake();
  return impl_->state_of(page);
}

DeskProgress Desk::progress() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->progress();
}

const std::vector<std::string>& Desk::classes() const { return impl_->y.classes; }

std::vector<Question> Desk::round(Index count) {
  std::vector<Asked> round;
  std::shared_ptr<const FitResult> fit;
  {
    const std::lock_guard lock(impl_->mutex);
    // Rows of earlier rounds may still be answered, but no longer wait for it.
    std::vector<Asked>& earlier = impl_->asked[Impl::earlier_rounds];
    std::ranges::move(impl_->asked[spreadsheet], std::back_inserter(earlier));
    impl_->asked[spreadsheet].clear();
    impl_->in_round = true;
    while (std::ssize(round) < count) {
      // Each in turn counts as asked, so that the next one is another.
      const std::optional<Asked> next = impl_->next(fmt::format("{} {}", spreadsheet, round.size()));
      if (!next) break;
      round.push_back(*next);
    }
    for (std::size_t i = 0; i < round.size(); ++i) impl_->asked.erase(fmt::format("{} {}", spreadsheet, i));
    impl_->asked[spreadsheet] = round;
    impl_->in_round = false;
    impl_->keep_asked();
    fit = impl_->latest;
  }
  std::vector<Question> questions;
  for (const Asked& asked : round) questions.push_back(impl_->describe(asked, *fit));
  return questions;
}

void Desk::catch_up() {
  impl_->background->wake();
  impl_->background->wait();
}

Labels Desk::labels() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->y;
}

Model Desk::final_model() {
  std::vector<Index> labelled, unlabelled;
  Labels y;
  {
    const std::lock_guard lock(impl_->mutex);
    y = impl_->y;
    labelled = impl_->known;
    for (const Index row : impl_->pool) (y.missing(row) ? unlabelled : labelled).push_back(row);
  }
  GrowingModel whole(impl_->data, impl_->pipeline);
  return whole.fit(y, labelled, unlabelled, impl_->context);
}

std::string Desk::fit_error() const { return impl_->background->error(); }

}  // namespace ecotone
