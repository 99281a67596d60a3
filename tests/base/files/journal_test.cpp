#include "ecotone/base/files/journal.h"

#include <set>

#include "base/temp_folder.h"

namespace ecotone {
namespace journal_test {

Digest key(int number) { return Digest().add("key").add(number); }

/// Contents with every byte value, an empty one, and one that looks like the beginning of a record.
std::vector<std::string> contents() {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  return {"first", "", bytes,
          "\xE7"
          "eco\r\n\x1A\x7E and on",
          "last"};
}

std::filesystem::path written(const TempFolder& folder) {
  const std::filesystem::path path = folder / "run.journal";
  Journal journal(path);
  const std::vector<std::string> all = contents();
  for (std::size_t i = 0; i < all.size(); ++i) journal.add(key(static_cast<int>(i)), all[i]);
  return path;
}

/// How many records a journal gives back; each must be the one that was written.
std::size_t intact(Journal& journal) {
  const std::vector<std::string> all = contents();
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto found = journal.find(key(static_cast<int>(i)));
    if (!found) continue;
    EXPECT_EQ(*found, all[i]);
    ++count;
  }
  return count;
}

TEST(Journal, GivesBackWhatWasAdded) {
  const TempFolder folder;
  const auto path = written(folder);
  Journal journal(path);
  EXPECT_EQ(journal.found(), 5U);
  EXPECT_EQ(journal.damaged(), 0U);
  EXPECT_EQ(intact(journal), 5U);
  EXPECT_EQ(journal.used(), 5U);
  EXPECT_FALSE(journal.find(key(5)));
  journal.add(key(5), "new");
  EXPECT_EQ(journal.find(key(5)), "new");
  EXPECT_EQ(journal.added(), 1U);
  EXPECT_EQ(journal.used(), 5U);  // what this run has added does not count
}

TEST(Journal, IsEmptyAtFirst) {
  const TempFolder folder;
  {
    const Journal journal(folder / "new");
    EXPECT_EQ(journal.found(), 0U);
  }
  put(folder / "touched", "");
  EXPECT_EQ(Journal(folder / "touched").found(), 0U);
  EXPECT_EQ(get(folder / "touched"), get(folder / "new"));
}

TEST(Journal, RecognisesEveryFlippedByte) {
  const TempFolder folder;
  const std::string good = get(written(folder));
  const std::size_t heading = get(folder / "run.journal").find('\n') + 1;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      put(folder / "bad", bad);
      if (i < heading) {
        message_of(ErrorKind::file, "not_a_journal", [&] { Journal(folder / "bad"); });
        EXPECT_EQ(get(folder / "bad"), bad);
        continue;
      }
      Journal journal(folder / "bad");
      EXPECT_EQ(intact(journal), 4U) << "byte " << i;
      EXPECT_GT(journal.damaged(), 0U);
    }
  }
}

TEST(Journal, GoesOnAfterEveryLength) {
  const TempFolder folder;
  const std::string good = get(written(folder));
  std::size_t last = 0;
  for (std::size_t size = 0; size <= good.size(); ++size) {
    put(folder / "cut", good.substr(0, size));
    std::size_t whole = 0;
    {
      Journal journal(folder / "cut");
      whole = intact(journal);
      EXPECT_EQ(whole, journal.found());
      EXPECT_GE(whole, last);
      last = whole;
      journal.add(key(9), "after");
    }
    Journal again(folder / "cut");
    EXPECT_EQ(again.find(key(9)), "after");
    EXPECT_EQ(again.damaged(), 0U) << "cut to " << size;
    EXPECT_EQ(intact(again), whole);
  }
  EXPECT_EQ(last, 5U);
}

TEST(Journal, RefusesOtherFiles) {
  const TempFolder folder;
  for (const std::string other : {"a,b\n1,2\n", "e", "ecotone journal 2\n", "ecotone journal 12\n"}) {
    put(folder / "other", other);
    if (other == "e") continue;  // the beginning of a heading that was cut off
    const std::string text = message_of(ErrorKind::file, "not_a_journal", [&] { Journal(folder / "other"); });
    EXPECT_NE(text.find((folder / "other").string()), std::string::npos);
    EXPECT_EQ(get(folder / "other"), other);
  }
  message_of(ErrorKind::file, "not_a_journal", [] { Journal("/dev/null"); });
  message_of(ErrorKind::file, "cannot_open", [&] { Journal(folder.path()); });
  message_of(ErrorKind::file, "cannot_open", [&] { Journal(folder / "no" / "such"); });
}

TEST(Journal, BelongsToOneProcessAtATime) {
  const TempFolder folder;
  const Journal journal(folder / "run.journal");
  message_of(ErrorKind::file, "journal_in_use", [&] { Journal(folder / "run.journal"); });
}

TEST(Digest, TellsValuesAndTheirOrderApart) {
  std::set<Digest> seen;
  seen.insert(Digest());
  seen.insert(Digest().add(""));
  seen.insert(Digest().add("").add(""));
  seen.insert(Digest().add("ab").add("c"));
  seen.insert(Digest().add("a").add("bc"));
  seen.insert(Digest().add("abc"));
  for (std::size_t size = 1; size <= 40; ++size) {
    seen.insert(Digest().add(std::string(size, '\0')));
    for (std::size_t i = 0; i < size; ++i) {
      std::string text(size, '\0');
      text[i] = '\1';
      seen.insert(Digest().add(text));
    }
  }
  EXPECT_EQ(seen.size(), 6U + 40 + 40 * 41 / 2);
}

}  // namespace journal_test
}  // namespace ecotone
