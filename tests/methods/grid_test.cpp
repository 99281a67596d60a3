#include "ecotone/methods/grid.h"

#include <cmath>
#include <set>

#include "methods/support.h"

namespace ecotone::test {
namespace grid_test {

std::vector<std::string> texts(std::string_view grid) {
  std::vector<std::string> texts;
  for (const Pipeline& pipeline : expand_grid(grid)) texts.push_back(pipeline.text());
  return texts;
}
std::string grid_code(std::string_view text) {
  return code_of([&] { expand_grid(text); });
}
std::string grid_message(std::string_view text) {
  return message_of([&] { expand_grid(text); });
}
using Texts = std::vector<std::string>;

TEST(Grid, WithoutBracesIsOnePipeline) {
  EXPECT_EQ(texts("scale | logistic l2=0.10"), Texts{"scale | logistic l2=0.1"});
  EXPECT_TRUE(PipelineSpace("scale | logistic").is_single());
}

TEST(Grid, IsTheProductInTheOrderWrittenTheLastFastest) {
  EXPECT_EQ(texts("impute indicator={true,false} | logistic norm=sum l2={1, 0.1 ,0.01}"),
            (Texts{"impute indicator=true | logistic l2=1 norm=sum", "impute indicator=true | logistic l2=0.1 norm=sum",
                   "impute indicator=true | logistic l2=0.01 norm=sum", "impute | logistic l2=1 norm=sum",
                   "impute | logistic l2=0.1 norm=sum", "impute | logistic l2=0.01 norm=sum"}));
  EXPECT_EQ(texts("logistic norm={'sum',\"count\"} | calibrate method={isotonic}"),
            (Texts{"logistic norm=sum | calibrate method=isotonic", "logistic | calibrate method=isotonic"}));
  // Spaces, bars and new lines stand between values and stages alike.
  EXPECT_EQ(texts("logistic l2={\n1,\t2\n}|calibrate"),
            (Texts{"logistic l2=1 | calibrate", "logistic l2=2 | calibrate"}));
}

TEST(Grid, SaysWhereTextIsWrong) {
  EXPECT_EQ(grid_message("scale | logistic l2={1,2"), "a brace { is not closed (position 21)");
  EXPECT_EQ(grid_message("logistic l2={}"), "a value in braces is empty (position 14)");
  EXPECT_EQ(grid_message("logistic l2={1,,2}"), "a value in braces is empty (position 16)");
  EXPECT_EQ(grid_message("logistic l2={1 2}"),
            "values in braces are separated by commas (position 16); quote one with spaces");
  EXPECT_EQ(grid_message("logistic l2={1}2"), "nothing may follow a closing brace directly (position 16)");
  EXPECT_EQ(grid_message("logistic l2={'1}"), "a quote ' is not closed (position 14)");
  EXPECT_EQ(grid_code("logistic l2={1,-1}"), "bad_option");
  EXPECT_EQ(grid_code("logistic l2={0.1,x}"), "bad_option");
  EXPECT_EQ(grid_code("logistic l3={1,2}"), "unknown_option");
  EXPECT_EQ(grid_code("logistic l2={1,2} l2=3"), "repeated_option");
  EXPECT_EQ(grid_code("logistic l2={1,2} l2={3}"), "repeated_option");
  EXPECT_EQ(grid_code("{scale} | logistic"), "unknown_method");
  EXPECT_EQ(grid_code("logistic l2={1,2} | scale"), "learner_not_last");
  EXPECT_EQ(grid_code(""), "empty_pipeline");
}

TEST(Grid, HasALargestSize) {
  std::string values = "1";
  for (int i = 2; i <= 100; ++i) values += fmt::format(",{}", i);
  const std::string hundred = "{" + values + "}";
  EXPECT_EQ(PipelineSpace("logistic l2=" + hundred + " max_iterations=" + hundred).size(), 10'000U);
  EXPECT_EQ(grid_code("logistic l2=" + hundred + " max_iterations=" + hundred + " norm={sum,count}"), "grid_too_large");
  // It can be drawn from all the same.
  Random random(1, "grid-test");
  EXPECT_NO_THROW(
      PipelineSpace("logistic l2=" + hundred + " max_iterations=" + hundred + " norm={sum,count}").draw(random));
}

TEST(Grid, ARangeIsForDraws) {
  EXPECT_EQ(grid_code("logistic l2={1e-4..1}"), "range_in_grid");
  EXPECT_EQ(grid_message("scale | logistic l2={1e-4..1}"),
            "logistic: l2 has a range (position 18), which only a random search draws from; a grid lists its values");
  EXPECT_EQ(code_of([] { PipelineSpace("logistic l2={1..1}"); }), "bad_pipeline");
  EXPECT_EQ(code_of([] { PipelineSpace("logistic l2={1..}"); }), "bad_option");
  EXPECT_EQ(code_of([] { PipelineSpace("logistic l2={-1..1}"); }), "bad_option");
  EXPECT_EQ(code_of([] { PipelineSpace("logistic l2={1..2,3}"); }), "bad_pipeline");
  EXPECT_EQ(code_of([] { PipelineSpace("logistic max_iterations={1.5..2}"); }), "bad_option");
  EXPECT_EQ(code_of([] { PipelineSpace("logistic norm={a..b}"); }), "bad_option");
}

TEST(Grid, DrawsFollowTheirLaws) {
  const PipelineSpace space("logistic l2={1e-4..1} max_iterations={3..6} norm={sum,count}");
  EXPECT_TRUE(space.has_range());
  EXPECT_FALSE(space.is_single());
  Random random(7, "grid-test");
  const int draws = 4000;
  int below = 0;
  std::map<int, int> iterations;
  std::map<std::string, int> norms;
  for (int i = 0; i < draws; ++i) {
    const Pipeline pipeline = space.draw(random);
    const OptionValues& options = pipeline.stages()[0].options;
    const double l2 = options.at("l2").get<double>();
    ASSERT_GE(l2, 1e-4);
    ASSERT_LE(l2, 1);
    below += l2 < 1e-2;
    ++iterations[options.at("max_iterations").get<int>()];
    ++norms[options.at("norm").get<std::string>()];
    EXPECT_EQ(Pipeline::parse(pipeline.text()).text(), pipeline.text());
  }
  // Log-uniform: half of the draws in the lower half of the exponents; five standard deviations of a share are allowed.
  EXPECT_NEAR(below, draws / 2, 5 * std::sqrt(draws) / 2);
  ASSERT_EQ(iterations.size(), 4U);
  EXPECT_NEAR(iterations[3], draws / 4, 5 * std::sqrt(draws * 3. / 16));
  EXPECT_NEAR(iterations[6], draws / 4, 5 * std::sqrt(draws * 3. / 16));
  EXPECT_NEAR(norms["sum"], draws / 2, 5 * std::sqrt(draws) / 2);

  // Values have 3 significant digits, more where the range is narrow beside its ends, and stay inside it.
  const auto drawn = [&](const char* text) {
    return PipelineSpace(text).draw(random).stages()[0].options.at("l2").get<double>();
  };
  for (int i = 0; i < 100; ++i) {
    const double wide = drawn("logistic l2={1e-4..1}");
    EXPECT_EQ(fmt::format("{}", wide), fmt::format("{}", std::stod(fmt::format("{:.2e}", wide))));
    const double narrow = drawn("logistic l2={100..101}");
    EXPECT_EQ(narrow, std::stod(fmt::format("{:.4e}", narrow)));
    const double ends = drawn("logistic l2={0.12345..0.12346}");
    EXPECT_TRUE(ends >= 0.12345 && ends <= 0.12346);
  }

  // With an end at 0 the law is uniform.
  const PipelineSpace uniform("logistic l2={0..1}");
  int half = 0;
  for (int i = 0; i < draws; ++i) half += uniform.draw(random).stages()[0].options.at("l2").get<double>() < 0.5;
  EXPECT_NEAR(half, draws / 2, 5 * std::sqrt(draws) / 2);
}

TEST(Grid, APipelineAloneRefusesIt) {
  EXPECT_EQ(code_of([] { Pipeline::parse("logistic l2={1,2}"); }), "unexpected_grid");
  EXPECT_EQ(
      message_of([] { Pipeline::parse("scale | logistic l2={1,2}"); }),
      "logistic: l2={...} is a grid, which works only with tune and evaluate (position 18); quote a value that begins "
      "with {");
  // A quoted brace is a value.
  EXPECT_EQ(code_of([] { Pipeline::parse("logistic norm='{sum}'"); }), "bad_option");
  EXPECT_EQ(grid_code("logistic norm='{sum}'"), "bad_option");
  EXPECT_EQ(option_text(Json("{a")), "'{a'");
}

TEST(Grid, AnyBytesGivePipelinesOrAnError) {
  const std::string alphabet = "l |='\"{},.{},..12\xff\n-e";
  Random random(6, "grid-bytes");
  for (int round = 0; round < 3000; ++round) {
    std::string text = "scale | logistic l2={1,2} norm={sum}";
    for (std::uint64_t k = 1 + random.below(6); k > 0; --k) {
      text.insert(random.below(text.size() + 1), 1, alphabet[random.below(alphabet.size())]);
    }
    try {
      for (const Pipeline& pipeline : expand_grid(text)) {
        EXPECT_EQ(Pipeline::parse(pipeline.text()).text(), pipeline.text()) << text;
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::option) << text;
    }
  }
}

}  // namespace grid_test
}  // namespace ecotone::test
