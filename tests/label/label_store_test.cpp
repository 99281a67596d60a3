#include "ecotone/label/label_store.h"

#include <sqlite3.h>

#include "base/temp_folder.h"
#include "error_code.h"

namespace ecotone::test {
namespace {

LabelEvent event(const std::string& request, Index row, const std::string& label) {
  LabelEvent result;
  result.page = "p";
  result.request = request;
  result.row = row;
  result.label = label;
  result.why = Why::explore;
  result.probability = 0.25;
  result.model_labels = 7;
  result.belief = "0.6 0.4";
  return result;
}

TEST(LabelStore, GivesBackWhatWasStoredInOrderAfterItIsOpenedAgain) {
  const TempFolder folder;
  {
    LabelStore store(folder / "labels.sqlite", {{"data", "a"}});
    EXPECT_EQ(store.add(event("r1", 3, "yes")).id, 1);
    EXPECT_EQ(store.add(event("r2", 4, "it's \"<b>\" \xc3\xa9")).id, 2);
    store.keep("curve", "old");
    store.keep("curve", "new");
  }
  const LabelStore store(folder / "labels.sqlite", {{"data", "a"}});
  const auto events = store.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].row, 3);
  EXPECT_EQ(events[0].why, Why::explore);
  EXPECT_EQ(events[0].probability, 0.25);
  EXPECT_EQ(events[0].model_labels, 7);
  EXPECT_EQ(events[0].belief, "0.6 0.4");
  EXPECT_EQ(events[1].label, "it's \"<b>\" \xc3\xa9");
  EXPECT_EQ(events[1].time.size(), 24U);
  EXPECT_EQ(store.kept("curve"), "new");
  EXPECT_EQ(store.kept("other"), std::nullopt);
}

TEST(LabelStore, AClickThatIsSentAgainIsStoredOnce) {
  const TempFolder folder;
  LabelStore store(folder / "labels.sqlite", {});
  const LabelEvent first = store.add(event("r1", 3, "yes"));
  const LabelEvent again = store.add(event("r1", 5, "no"));
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.label, "yes");
  EXPECT_EQ(store.events().size(), 1U);
}

TEST(LabelStore, RefusesOtherDataOtherFilesAndASecondUser) {
  const TempFolder folder;
  {
    LabelStore store(folder / "labels.sqlite", {{"data", "a"}});
    store.add(event("r1", 3, "yes"));
    EXPECT_EQ(code_of([&] { LabelStore second(folder / "labels.sqlite", {{"data", "a"}}); }), "journal_in_use");
  }
  const std::string message = message_of(ErrorKind::file, "other_data", [&] {
    LabelStore store(folder / "labels.sqlite", {{"data", "b"}});
  });
  EXPECT_NE(message.find("its data is a, now it is b"), std::string::npos) << message;
  EXPECT_EQ(LabelStore(folder / "labels.sqlite", {{"data", "a"}}).events().size(), 1U);
  put(folder / "text", std::string(2000, 'x'));
  EXPECT_EQ(code_of([&] { LabelStore store(folder / "text", {}); }), "not_a_journal");
  EXPECT_EQ(get(folder / "text"), std::string(2000, 'x'));
  EXPECT_EQ(code_of([&] { LabelStore store(folder / "none" / "x", {}); }), "cannot_open");
  sqlite3* other = nullptr;
  sqlite3_open((folder / "other.sqlite").c_str(), &other);
  sqlite3_exec(other, "CREATE TABLE t (x)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_EQ(code_of([&] { LabelStore store(folder / "other.sqlite", {}); }), "not_a_journal");
}

TEST(LabelStore, UndosAndWhatTheyUndidDoNotStand) {
  LabelEvent a = event("1", 1, "yes"), b = event("2", 2, "no"), undo = event("3", 2, "");
  a.id = 1;
  b.id = 2;
  undo.id = 3;
  undo.kind = AnswerKind::undo;
  undo.undoes = 2;
  const auto left = standing({a, b, undo});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].row, 1);
}

}  // namespace
}  // namespace ecotone::test
