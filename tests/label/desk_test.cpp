#include "ecotone/label/desk.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/temp_folder.h"
#include "ecotone/data/generate/generate.h"
#include "error_code.h"

namespace ecotone::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* plain = "impute | scale | logistic l2=0.01";

/// The clinics with the labels of one hospital taken away, and what they were.
struct Clinics {
  Dataset data;
  Labels truth;

  explicit Clinics(double size = 0.2) {
    data = generate("clinics", {{"size", fmt::format("{}", size)}}, Context());
    truth = *data.y;
    set_targets(data, {data.domain.names.back()});
    for (std::size_t i = 0; i < data.y->index.size(); ++i)
      if (data.role[at(data.domain.index[i])] == Role::target) data.y->index[i] = -1;
  }
  std::string label(Index row) const { return truth.classes[at(truth.index[at(row)])]; }
};

/// A person with a desk, a journal and the right answers.
struct Person {
  const Clinics& clinics;
  LabelStore store;
  Desk desk;
  int clicks = 0;

  Person(const Clinics& of, const TempFolder& folder, DeskOptions options = {.budget = 60},
         const char* pipeline = plain)
      : clinics(of),
        store(folder / "labels.sqlite", {}),
        desk(of.data, Pipeline::parse(pipeline), options, store, Context({.threads = 2})) {}

  std::string request() { return fmt::format("{} {}", store.events().size(), clicks++); }
  DeskState click(const Question& question, AnswerKind kind = AnswerKind::label, const std::string& page = "a") {
    return desk.answer(
        {page, request(), question.origin, kind, kind == AnswerKind::label ? clinics.label(question.row) : ""});
  }
};

TEST(Desk, AsksRowsOfTheTargetAndStopsAtTheBudget) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 25});
  std::set<Index> asked;
  DeskState state = person.desk.state("a");
  while (state.question) {
    const Question& question = *state.question;
    EXPECT_EQ(question.domain, clinics.data.domain.names.back());
    EXPECT_TRUE(asked.insert(question.row).second) << "asked twice";
    EXPECT_EQ(question.fields.size(), clinics.data.schema.columns.size());
    EXPECT_FALSE(question.reason.empty());
    state = person.click(question);
  }
  EXPECT_EQ(asked.size(), 25U);
  EXPECT_EQ(state.progress.labels, 25);
  EXPECT_EQ(state.progress.audits, 5);
  EXPECT_THAT(state.progress.advice.text, HasSubstr("All 25 labels"));
  person.desk.catch_up();
  state = person.desk.state("a");
  EXPECT_EQ(state.progress.model_labels, 20);
  ASSERT_TRUE(state.progress.estimate);
  EXPECT_EQ(state.progress.estimate->rows, 5);
}

TEST(Desk, AuditRowsShowNothingOfTheModelAndDoNotTrainUntilTheEnd) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 40, .audit = 2});
  person.desk.catch_up();
  DeskState state = person.desk.state("a");
  Index audits = 0;
  while (state.question) {
    const Question question = *state.question;
    if (question.why == Why::audit) {
      ++audits;
      EXPECT_FALSE(question.belief);
      EXPECT_TRUE(question.neighbours.empty());
      EXPECT_EQ(question.fields[0].name, clinics.data.schema.columns[0].name);
      for (const FieldFact& field : question.fields) EXPECT_FALSE(field.important);
    } else {
      EXPECT_TRUE(question.belief);
    }
    state = person.click(question);
  }
  EXPECT_EQ(audits, 20);
  person.desk.catch_up();
  EXPECT_EQ(person.desk.state("a").progress.model_labels, 20);
  for (const LabelEvent& event : person.store.events()) EXPECT_EQ(event.why == Why::audit, event.belief.empty());
  const Model model = person.desk.final_model();
  EXPECT_THAT(model.domains(), ::testing::Contains(clinics.data.domain.names.back()));
}

TEST(Desk, AuditRowsShareNoGroupWithRowsThatTrain) {
  Clinics clinics;
  clinics.data.group.resize(at(clinics.data.rows()));
  for (std::size_t i = 0; i < clinics.data.group.size(); ++i) clinics.data.group[i] = static_cast<std::int32_t>(i / 4);
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 30, .audit = 2});
  std::set<std::int32_t> audits, others;
  DeskState state = person.desk.state("a");
  while (state.question) {
    (state.question->why == Why::audit ? audits : others).insert(clinics.data.group[at(state.question->row)]);
    state = person.click(*state.question);
  }
  EXPECT_FALSE(audits.empty());
  for (const std::int32_t group : audits) EXPECT_FALSE(others.contains(group)) << group;
}

TEST(Desk, EverythingIsThereAfterTheProcessEnds) {
  const Clinics clinics;
  const TempFolder folder;
  Question shown;
  {
    Person person(clinics, folder);
    DeskState state = person.desk.state("a");
    for (int i = 0; i < 7; ++i) state = person.click(*state.question);
    state = person.click(*state.question, AnswerKind::unsure);
    state = person.click(*state.question, AnswerKind::skip);
    shown = *state.question;
  }
  Person person(clinics, folder);
  DeskState state = person.desk.state("a");
  EXPECT_EQ(state.progress.labels, 7);
  EXPECT_EQ(state.progress.unsure, 1);
  EXPECT_EQ(state.progress.skipped, 1);
  ASSERT_TRUE(state.question);
  EXPECT_EQ(state.question->row, shown.row);
  state = person.click(shown);
  EXPECT_EQ(state.progress.labels, 8);
}

TEST(Desk, UndoGoesBackWithoutLimitAndAcrossRestarts) {
  const Clinics clinics;
  const TempFolder folder;
  std::vector<Index> rows;
  {
    Person person(clinics, folder);
    DeskState state = person.desk.state("a");
    for (int i = 0; i < 6; ++i) {
      rows.push_back(state.question->row);
      state = person.click(*state.question);
    }
  }
  Person person(clinics, folder);
  for (int i = 5; i >= 0; --i) {
    const DeskState state = person.desk.undo("a", person.request());
    ASSERT_TRUE(state.question);
    EXPECT_EQ(state.question->row, rows[static_cast<std::size_t>(i)]);
    EXPECT_EQ(state.question->answered, clinics.label(state.question->row));
    EXPECT_EQ(state.progress.labels, i);
  }
  EXPECT_EQ(code_of([&] { person.desk.undo("a", "last"); }), "nothing_to_undo");
  EXPECT_TRUE(standing(person.store.events()).empty());
  EXPECT_EQ(person.store.events().size(), 12U);
  const DeskState state = person.click(*person.desk.state("a").question);
  EXPECT_EQ(state.progress.labels, 1);
}

TEST(Desk, PagesHaveRowsOfTheirOwn) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder);
  const Question a = *person.desk.state("a").question;
  const Question b = *person.desk.state("b").question;
  EXPECT_NE(a.row, b.row);
  EXPECT_EQ(person.desk.state("a").question->row, a.row);
  person.click(a);
  EXPECT_EQ(code_of([&] { person.click(a, AnswerKind::label, "b"); }), "answered");
  EXPECT_EQ(code_of([&] { person.click(b, AnswerKind::label, "c"); }), "not_asked");
  EXPECT_EQ(person.desk.state("b").question->row, b.row);
  // Each page undoes its own.
  person.click(b, AnswerKind::label, "b");
  EXPECT_EQ(person.desk.undo("a", "undo").question->row, a.row);
}

TEST(Desk, RefusesLabelsThatAreNone) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder);
  const Question question = *person.desk.state("a").question;
  EXPECT_EQ(code_of([&] {
              person.desk.answer({"a", "r", question.origin, AnswerKind::label, "perhaps"});
            }),
            "bad_label");
  EXPECT_EQ(code_of([&] { person.desk.answer({"a", "r", 100000, AnswerKind::label, "yes"}); }), "not_asked");
  EXPECT_TRUE(person.store.events().empty());
  EXPECT_EQ(person.desk.state("a").question->row, question.row);
}

TEST(Desk, AClickSentTwiceCountsOnce) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder);
  const Question question = *person.desk.state("a").question;
  const Answer answer{"a", "same", question.origin, AnswerKind::label, clinics.label(question.row)};
  const DeskState first = person.desk.answer(answer);
  const DeskState again = person.desk.answer(answer);
  EXPECT_EQ(again.progress.labels, 1);
  EXPECT_EQ(again.question->row, first.question->row);
}

TEST(Desk, BeginsWithoutAnyLabel) {
  Clinics clinics;
  set_targets(clinics.data, {});
  std::ranges::fill(clinics.data.y->index, -1);
  const std::vector<std::string> classes = std::exchange(clinics.data.y->classes, {});
  const TempFolder folder;
  EXPECT_EQ(code_of([&] { Person person(clinics, folder); }), "one_class");
  Person person(clinics, folder, {.budget = 40, .classes = classes});
  DeskState state = person.desk.state("a");
  EXPECT_EQ(state.question->why, Why::seed);
  EXPECT_FALSE(state.question->belief);
  for (int i = 0; i < 30; ++i) state = person.click(*state.question);
  person.desk.catch_up();
  state = person.click(*person.desk.state("a").question);
  EXPECT_TRUE(state.question->why == Why::audit || state.question->belief);
}

TEST(Desk, AsksForNumbersToo) {
  Clinics clinics;
  Labels y{Task::regress, {}, {}, Vector::Constant(clinics.data.rows(), NAN)};
  for (Index i = 0; i < clinics.data.rows(); ++i)
    if (!clinics.data.y->missing(i))
      y.value[i] = static_cast<double>(clinics.data.y->index[at(i)]) + 0.01 * static_cast<double>(i % 7);
  clinics.data.y = y;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 30, .audit = 3}, "impute | scale | ridge lam=0.1");
  person.desk.catch_up();
  DeskState state = person.desk.state("a");
  int clicks = 0;
  while (state.question) {
    EXPECT_EQ(state.question->why != Why::audit, state.question->belief && state.question->belief->value);
    state = person.desk.answer({"a", fmt::format("n{}", clicks++), state.question->origin, AnswerKind::label, "0.5"});
  }
  person.desk.catch_up();
  state = person.desk.state("a");
  EXPECT_EQ(state.progress.metric, "rmse");
  ASSERT_TRUE(state.progress.estimate);
  EXPECT_EQ(state.progress.estimate->rows, 10);
}

TEST(Desk, ARoundOfQuestionsOutlivesTheProcess) {
  const Clinics clinics;
  const TempFolder folder;
  std::vector<Question> round;
  {
    Person person(clinics, folder);
    person.desk.catch_up();
    round = person.desk.round(15);
    ASSERT_EQ(round.size(), 15U);
    EXPECT_EQ(std::ranges::count(round, Why::audit, &Question::why), 3);
  }
  Person person(clinics, folder);
  EXPECT_NE(person.desk.state("a").question->row, round[0].row);
  for (const Question& question : round) person.click(question, AnswerKind::label, Desk::spreadsheet);
  EXPECT_EQ(person.desk.state("a").progress.labels, 15);
  EXPECT_EQ(person.desk.state("a").progress.audits, 3);
}

TEST(Desk, ManyPagesAtOnceLoseNothing) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 60});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const std::string page = fmt::format("page {}", t);
      for (int i = 0; i < 10; ++i) {
        const DeskState state = person.desk.state(page);
        if (!state.question) return;
        person.desk.answer({page, fmt::format("{} {}", page, i), state.question->origin, AnswerKind::label,
                            clinics.label(state.question->row)});
      }
    });
  for (std::thread& thread : threads) thread.join();
  const auto events = person.store.events();
  EXPECT_EQ(events.size(), 40U);
  std::set<Index> rows;
  for (const LabelEvent& event : events) EXPECT_TRUE(rows.insert(event.row).second);
}

TEST(Desk, AuditRowsAreDrawnOnce) {
  const Clinics clinics;
  const TempFolder folder;
  {
    Person person(clinics, folder, {.budget = 20});
    DeskState state = person.desk.state("a");
    while (state.question) state = person.click(*state.question);
  }
  // Another budget and another share of audits do not make rows audits that were asked for another reason.
  for (const DeskOptions& options :
       {DeskOptions{.budget = 2000}, DeskOptions{.budget = 50, .audit = 2}, DeskOptions{.budget = 50, .audit = 0}}) {
    Person person(clinics, folder, options);
    person.desk.catch_up();
    const DeskProgress progress = person.desk.progress();
    EXPECT_EQ(progress.audits, 4);
    ASSERT_TRUE(progress.estimate);
    EXPECT_EQ(progress.estimate->rows, 4);
    EXPECT_EQ(progress.model_labels, 16);
  }
}

TEST(Desk, SaysWhyThereIsNoModel) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 20}, "scale | logistic l2=0.01");
  person.desk.catch_up();
  const DeskState state = person.desk.state("a");
  EXPECT_THAT(state.progress.problem, HasSubstr("impute"));
  EXPECT_THAT(state.progress.advice.text, HasSubstr("cannot be fitted"));
}

TEST(Desk, RanksAtRandomWhereNothingKnowsItsUncertainty) {
  Clinics clinics;
  Labels y{Task::regress, {}, {}, Vector::Constant(clinics.data.rows(), NAN)};
  for (Index i = 0; i < clinics.data.rows(); ++i)
    if (!clinics.data.y->missing(i)) y.value[i] = static_cast<double>(i % 5);
  clinics.data.y = y;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 60, .audit = 0, .strategy = Strategy::parse("entropy")},
                "impute | scale | ridge lam=0.1");
  person.desk.catch_up();
  DeskState state = person.desk.state("a");
  EXPECT_THAT(state.progress.problem, HasSubstr("how sure"));
  EXPECT_TRUE(state.question->belief) << "there is a model all the same";
  for (int i = 0; i < 50; ++i)
    state = person.desk.answer({"a", fmt::format("n{}", i), state.question->origin, AnswerKind::label, "900"});
  person.desk.catch_up();
  EXPECT_FALSE(person.desk.progress().advice.may_stop) << "without an estimate nobody knows";
}

TEST(Desk, StoresTheBeliefThatWasShown) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder, {.budget = 20, .audit = 0});
  person.desk.catch_up();
  const Question first = *person.desk.state("a").question;
  const Question second = *person.desk.state("b").question;
  person.click(second, AnswerKind::label, "b");
  person.desk.catch_up();
  person.click(first);
  const LabelEvent event = person.store.events().back();
  EXPECT_EQ(event.belief, fmt::format("{:.4g}", fmt::join(first.belief->probability, " ")));
}

TEST(Desk, RowsOfEarlierRoundsMayStillBeAnswered) {
  const Clinics clinics;
  const TempFolder folder;
  Person person(clinics, folder);
  const std::vector<Question> first = person.desk.round(4);
  const std::vector<Question> second = person.desk.round(4);
  person.click(first[0], AnswerKind::label, Desk::spreadsheet);
  person.click(second[3], AnswerKind::label, Desk::spreadsheet);
  EXPECT_EQ(person.desk.progress().labels, 2);
  EXPECT_EQ(code_of([&] { person.click(first[0], AnswerKind::label, Desk::spreadsheet); }), "answered");
}

TEST(Desk, RefusesDataWithNothingToAsk) {
  const TempFolder folder;
  Clinics clinics;
  clinics.data.y = clinics.truth;
  EXPECT_EQ(code_of([&] { Person person(clinics, folder); }), "empty_data");
  clinics.data.y.reset();
  EXPECT_EQ(code_of([&] { Person person(clinics, folder); }), "no_labels");
}

}  // namespace
}  // namespace ecotone::test
