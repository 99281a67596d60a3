#include "ecotone/evaluate/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "ecotone/base/error.h"

namespace ecotone {
namespace protocol_test {

/// Domains of the given sizes, with their rows interleaved.
Domains domains_of(const std::vector<int>& sizes) {
  Domains domains;
  for (std::size_t d = 0; d < sizes.size(); ++d) domains.names.push_back(fmt::format("d{}", d));
  std::vector<int> left = sizes;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t d = 0; d < left.size(); ++d)
      if (left[d]-- > 0) {
        domains.index.push_back(static_cast<std::int32_t>(d));
        any = true;
      }
  }
  return domains;
}

Context seeded(std::uint64_t seed) { return Context({.threads = 1, .seed = seed}); }

EvaluateOptions with(Protocol protocol) {
  EvaluateOptions options;
  options.protocol = protocol;
  return options;
}

/// Every row is either trained on or held out, never both; both ascend.
void expect_partition(const Split& split, Index rows) {
  std::vector<Index> all = split.source;
  all.insert(all.end(), split.held_out.begin(), split.held_out.end());
  EXPECT_TRUE(std::is_sorted(split.source.begin(), split.source.end()));
  EXPECT_TRUE(std::is_sorted(split.held_out.begin(), split.held_out.end()));
  std::sort(all.begin(), all.end());
  ASSERT_EQ(static_cast<Index>(all.size()), rows);
  for (Index i = 0; i < rows; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
}

/// Rows of two domains at once, as pairs are, must be seen neither in training nor in the test of another.
TEST(Protocol, PairsWithAHeldOutPartnerAreInNoPart) {
  Domains domains{{"a", "b", "c"}, {0, 0, 0, 1, 1, 2, 2}, {-1, 1, 2, -1, 0, -1, 1}};
  const auto splits = make_splits({domains}, with(Protocol::leave_one_domain_out), seeded(1));
  ASSERT_EQ(splits.size(), 3u);
  EXPECT_THAT(splits[0].held_out, ::testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(splits[0].source, ::testing::ElementsAre(3, 5, 6));
  EXPECT_THAT(splits[1].held_out, ::testing::ElementsAre(3, 4));
  EXPECT_THAT(splits[1].source, ::testing::ElementsAre(0, 2, 5));
  EXPECT_THAT(splits[2].source, ::testing::ElementsAre(0, 1, 3, 4));
  EvaluateOptions options = with(Protocol::domain_split);
  options.held_out = 2;
  for (const Split& split : make_splits({domains}, options, seeded(2)))
    for (const Index row : split.source) EXPECT_EQ(domains.partner_of(row), -1);
}

template <class F>
std::string code_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  }
  return "no error";
}

EvaluateOptions chosen(const std::string& protocol) {
  const auto infos = describe_options<EvaluateOptions>();
  return read_options<EvaluateOptions>(complete_options("evaluate", infos, OptionTexts{{"protocol", protocol}}));
}

TEST(ProtocolNames, RoundTripAndSuggest) {
  for (const auto protocol : {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split, Protocol::k_fold,
                              Protocol::named_domains, Protocol::forward})
    EXPECT_EQ(chosen(std::string(protocol_name(protocol))).protocol, protocol);
  try {
    chosen("k-folds");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::option);
    EXPECT_EQ(error.code(), "bad_option");
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'k-fold'?"));
  }
  EXPECT_EQ(code_of([] { chosen("bootstrap"); }), "bad_option");
}

TEST(LeaveOneDomainOut, HoldsEachDomainOutOnceAndWhole) {
  const Domains domains = domains_of({5, 1, 9, 3});
  const auto splits = make_splits({domains}, with(Protocol::leave_one_domain_out), seeded(1));
  ASSERT_EQ(splits.size(), 4U);
  for (Index d = 0; d < 4; ++d) {
    const Split& split = splits[static_cast<std::size_t>(d)];
    expect_partition(split, 18);
    EXPECT_EQ(split.name, domains.names[static_cast<std::size_t>(d)]);
    EXPECT_EQ(split.held_out, domains.rows_of(d));
    EXPECT_TRUE(split.target.empty());
    EXPECT_EQ(split.repetition, 0);
  }
}

TEST(Adapt, TheHeldOutRowsAreTheTarget) {
  const auto splits = make_splits({domains_of({4, 6})}, with(Protocol::adapt), seeded(1));
  ASSERT_EQ(splits.size(), 2U);
  for (const auto& split : splits) {
    expect_partition(split, 10);
    EXPECT_EQ(split.target, split.held_out);
  }
}

TEST(NamedDomains, AreHeldOutTogether) {
  const Domains domains = domains_of({5, 1, 9, 3});
  EvaluateOptions options = with(Protocol::named_domains);
  options.target = {"d3", "d1"};
  const auto splits = make_splits({domains}, options, seeded(1));
  ASSERT_EQ(splits.size(), 1U);
  expect_partition(splits[0], 18);
  EXPECT_EQ(splits[0].held_out.size(), 4U);
  EXPECT_TRUE(splits[0].target.empty());
  EXPECT_EQ(splits[0].name, "d3, d1");
  options.protocol = Protocol::adapt;
  const auto adapted = make_splits({domains}, options, seeded(1));
  ASSERT_EQ(adapted.size(), 2U);
  for (const Split& split : adapted) {
    EXPECT_EQ(split.source, splits[0].source);  // the other target is not trained on either
    EXPECT_EQ(split.target, split.held_out);
  }
  EXPECT_EQ(adapted[0].held_out, domains.rows_of(1));
  EXPECT_EQ(adapted[1].held_out, domains.rows_of(3));
}

TEST(NamedDomains, AreRefusedWhereTheyMakeNoSense) {
  const Domains domains = domains_of({2, 2, 2});
  const auto code = [&](Protocol protocol, std::vector<std::string> target) {
    EvaluateOptions options = with(protocol);
    options.target = std::move(target);
    return code_of([&] { make_splits({domains}, options, seeded(1)); });
  };
  EXPECT_EQ(code(Protocol::named_domains, {}), "bad_option");
  EXPECT_EQ(code(Protocol::k_fold, {"d1"}), "bad_option");
  EXPECT_EQ(code(Protocol::leave_one_domain_out, {"d1"}), "bad_option");
  EXPECT_EQ(code(Protocol::named_domains, {"d7"}), "unknown_domain");
  try {
    EvaluateOptions options = with(Protocol::named_domains);
    options.target = {"elsewhere"};
    make_splits({domains}, options, seeded(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_STREQ(error.what(), "evaluate: no domain 'elsewhere'; the domains are d0, d1, d2");
  }
  EXPECT_EQ(code(Protocol::named_domains, {"d0", "d1", "d2"}), "needs_two_domains");
}

TEST(KFold, EveryRowIsHeldOutOnceAndFoldsAreNearlyEqual) {
  const Domains domains = domains_of({23, 7, 40, 2, 1});
  EvaluateOptions options = with(Protocol::k_fold);
  options.folds = 5;
  const auto splits = make_splits({domains}, options, seeded(3));
  ASSERT_EQ(splits.size(), 5U);
  std::vector<int> times(73, 0);
  std::set<std::size_t> sizes;
  for (const auto& split : splits) {
    expect_partition(split, 73);
    sizes.insert(split.held_out.size());
    for (const Index row : split.held_out) ++times[static_cast<std::size_t>(row)];
  }
  EXPECT_THAT(times, testing::Each(1));
  EXPECT_LE(*sizes.rbegin() - *sizes.begin(), 1U);
  for (Index d = 0; d < domains.count(); ++d) {
    std::set<Index> in_fold;
    for (const auto& split : splits)
      in_fold.insert(std::count_if(split.held_out.begin(), split.held_out.end(),
                                   [&](Index row) { return domains.index[static_cast<std::size_t>(row)] == d; }));
    EXPECT_LE(*in_fold.rbegin() - *in_fold.begin(), 1) << "domain " << d;
  }
}

TEST(KFold, IsSeededAndShuffled) {
  const Domains domains = domains_of({30, 30});
  const auto a = make_splits({domains}, with(Protocol::k_fold), seeded(1));
  const auto b = make_splits({domains}, with(Protocol::k_fold), seeded(1));
  const auto c = make_splits({domains}, with(Protocol::k_fold), seeded(2));
  EXPECT_EQ(a[0].held_out, b[0].held_out);
  EXPECT_NE(a[0].held_out, c[0].held_out);
}

TEST(KFold, FoldsWithoutRowsAreLeftOut) {
  EXPECT_EQ(make_splits({domains_of({2, 1})}, with(Protocol::k_fold), seeded(1)).size(), 3U);
}

TEST(DomainSplit, HoldsWholeDomainsOutInEachRepetition) {
  const Domains domains = domains_of({5, 4, 3, 6, 2});
  EvaluateOptions options = with(Protocol::domain_split);
  options.repetitions = 12;
  options.held_out = 2;
  const auto splits = make_splits({domains}, options, seeded(7));
  ASSERT_EQ(splits.size(), 12U);
  std::set<std::vector<Index>> different;
  for (std::size_t r = 0; r < splits.size(); ++r) {
    expect_partition(splits[r], 20);
    EXPECT_EQ(splits[r].repetition, static_cast<Index>(r));
    std::set<int> out;
    for (const Index row : splits[r].held_out) out.insert(domains.index[static_cast<std::size_t>(row)]);
    EXPECT_EQ(out.size(), 2U);
    for (const Index row : splits[r].source) EXPECT_FALSE(out.contains(domains.index[static_cast<std::size_t>(row)]));
    different.insert(splits[r].held_out);
  }
  EXPECT_GT(different.size(), 3U);
  EXPECT_EQ(make_splits({domains}, options, seeded(7))[4].held_out, splits[4].held_out);
}

TEST(MakeSplits, BadOptionsAndTooFewDomainsAreRefused) {
  const Domains one = domains_of({8});
  const Domains three = domains_of({2, 2, 2});
  for (const auto protocol : {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split})
    EXPECT_EQ(code_of([&] { make_splits({one}, with(protocol), seeded(1)); }), "needs_two_domains");
  EXPECT_NO_THROW(make_splits({one}, with(Protocol::k_fold), seeded(1)));
  EvaluateOptions options = with(Protocol::k_fold);
  options.folds = 1;
  EXPECT_EQ(code_of([&] { make_splits({three}, options, seeded(1)); }), "bad_option");
  options = with(Protocol::domain_split);
  for (const int held_out : {-1, 0, 3, 4}) {
    options.held_out = held_out;
    EXPECT_EQ(code_of([&] { make_splits({three}, options, seeded(1)); }), "bad_option") << held_out;
  }
  options.held_out = 2;
  EXPECT_NO_THROW(make_splits({three}, options, seeded(1)));
  options.repetitions = 0;
  EXPECT_EQ(code_of([&] { make_splits({three}, options, seeded(1)); }), "bad_option");
  EXPECT_EQ(code_of([&] { make_splits({domains_of({1})}, with(Protocol::k_fold), seeded(1)); }), "empty_data");
}

/// Eight patients in three domains, most with rows in two of them, and rows of no patient.
RowPlaces visits() {
  RowPlaces rows{domains_of({12, 12, 12})};
  rows.time.resize(36);
  for (Index i = 0; i < 36; ++i) {
    rows.group.push_back(i % 9 == 8 ? -1 : static_cast<std::int32_t>(i * 7 % 8));
    rows.time[i] = static_cast<double>(i / 2);
  }
  return rows;
}

TEST(Groups, AreNeverOnBothSidesInAnyProtocol) {
  const RowPlaces rows = visits();
  // Six patients with a row in every domain, which leave something to train on in every protocol.
  RowPlaces few = rows;
  for (std::size_t i = 0; i < few.group.size(); ++i) few.group[i] = i % 2 == 0 ? static_cast<std::int32_t>(i / 6) : -1;
  Index dropped = 0;
  for (Protocol protocol : {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split, Protocol::k_fold,
                            Protocol::named_domains, Protocol::forward}) {
    for (const bool many : {false, true}) {
      if (many && protocol != Protocol::k_fold) continue;
      EvaluateOptions options = with(protocol);
      if (protocol == Protocol::named_domains) options.target = {"d1"};
      const RowPlaces& places = many ? rows : few;
      RowPlaces without = places;
      without.group.clear();
      const auto plain = make_splits(without, options, seeded(1));
      const auto splits = make_splits(places, options, seeded(1));
      ASSERT_EQ(splits.size(), plain.size());
      for (std::size_t s = 0; s < splits.size(); ++s) {
        std::set<std::int32_t> held;
        for (const Index row : splits[s].held_out) held.insert(places.group[at(row)]);
        held.erase(-1);
        for (const Index row : splits[s].source) EXPECT_FALSE(held.contains(places.group[at(row)]));
        if (protocol == Protocol::k_fold) continue;
        EXPECT_EQ(splits[s].held_out, plain[s].held_out);
        EXPECT_EQ(splits[s].target, plain[s].target);
        dropped += std::ssize(plain[s].source) - std::ssize(splits[s].source);
        for (const Index row : plain[s].source)  // and no other row is left out
          if (!held.contains(places.group[at(row)])) {
            EXPECT_TRUE(std::ranges::binary_search(splits[s].source, row));
          }
      }
    }
  }
  EXPECT_GT(dropped, 10);
}

TEST(Groups, OfOneRowEachChangeNothing) {
  RowPlaces rows = visits();
  for (std::size_t i = 0; i < rows.group.size(); ++i) rows.group[i] = i % 4 == 0 ? -1 : static_cast<std::int32_t>(i);
  RowPlaces without = rows;
  without.group.clear();
  for (Protocol protocol : {Protocol::leave_one_domain_out, Protocol::k_fold, Protocol::forward}) {
    const auto a = make_splits(rows, with(protocol), seeded(1)), b = make_splits(without, with(protocol), seeded(1));
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t s = 0; s < a.size(); ++s) {
      EXPECT_EQ(a[s].source, b[s].source);
      EXPECT_EQ(a[s].held_out, b[s].held_out);
    }
  }
}

TEST(Groups, AreRefusedWhereNothingIsLeft) {
  RowPlaces rows{domains_of({3, 3})};
  rows.group = {0, 0, 1, 1, 2, 2};  // every patient was in both domains
  EXPECT_EQ(code_of([&] { make_splits(rows, with(Protocol::leave_one_domain_out), seeded(1)); }), "no_training_rows");
  EXPECT_EQ(make_splits(rows, with(Protocol::k_fold), seeded(1)).size(), 3U);
  rows.group.assign(6, 0);
  EXPECT_EQ(code_of([&] { make_splits(rows, with(Protocol::k_fold), seeded(1)); }), "empty_data");
}

TEST(Forward, TrainsOnThePastAndScoresTheNextBlock) {
  RowPlaces rows{domains_of({20})};
  rows.time.resize(20);
  for (Index i = 0; i < 20; ++i) rows.time[i] = static_cast<double>((i * 7) % 20);
  EvaluateOptions options = with(Protocol::forward);
  options.blocks = 3;
  const auto splits = make_splits(rows, options, seeded(1));
  ASSERT_EQ(splits.size(), 3U);
  EXPECT_EQ(splits[0].name, "5 to 9");
  EXPECT_EQ(splits[2].name, "15 to 19");
  for (std::size_t s = 0; s < 3; ++s) {
    const double start = 5.0 * static_cast<double>(s + 1);
    EXPECT_EQ(splits[s].held_out.size(), 5U);
    EXPECT_EQ(splits[s].source.size(), 5 * (s + 1));
    for (const Index row : splits[s].source) EXPECT_LT(rows.time[row], start);
    for (const Index row : splits[s].held_out) EXPECT_GE(rows.time[row], start);
  }
  options.gap = 2;
  options.window = 3;
  for (const Split& split : make_splits(rows, options, seeded(1))) {
    double start = 100;
    for (const Index row : split.held_out) start = std::min(start, rows.time[row]);
    ASSERT_EQ(split.source.size(), 3U);  // the times start - 5, start - 4, start - 3
    for (const Index row : split.source) {
      EXPECT_GE(rows.time[row], start - 5);
      EXPECT_LT(rows.time[row], start - 2);
    }
  }
}

TEST(Forward, NeverCutsBetweenEqualTimes) {
  RowPlaces rows{domains_of({30})};
  rows.time.resize(30);
  for (Index i = 0; i < 30; ++i) rows.time[i] = i < 17 ? 1 : static_cast<double>(i / 4);
  rows.time[3] = std::numeric_limits<double>::quiet_NaN();
  EvaluateOptions options = with(Protocol::forward);
  options.blocks = 4;
  const auto splits = make_splits(rows, options, seeded(1));
  ASSERT_EQ(splits.size(), 4U);
  for (const Split& split : splits) {
    for (const Index row : split.source)
      for (const Index held : split.held_out) EXPECT_LT(rows.time[row], rows.time[held]);
    EXPECT_FALSE(std::ranges::binary_search(split.source, 3));
    EXPECT_FALSE(std::ranges::binary_search(split.held_out, 3));
  }
  EXPECT_EQ(splits[0].name, "4");
}

TEST(Forward, IsRefusedWithoutEnoughTimes) {
  RowPlaces rows{domains_of({4})};
  const auto code = [&](EvaluateOptions options) { return code_of([&] { make_splits(rows, options, seeded(1)); }); };
  EvaluateOptions options = with(Protocol::forward);
  options.blocks = 2;
  EXPECT_EQ(code(options), "no_time");
  rows.time = Vector::Constant(4, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(code(options), "no_time");
  rows.time << 1, 1, 2, 2;
  EXPECT_EQ(code(options), "too_few_times");
  rows.time << 1, 2, 3, 3;
  EXPECT_EQ(make_splits(rows, options, seeded(1)).size(), 2U);
  options.gap = 1;
  EXPECT_EQ(code(options), "no_training_rows");
  options.gap = 0;
  options.blocks = 0;
  EXPECT_EQ(code(options), "bad_option");
}

}  // namespace protocol_test
}  // namespace ecotone
