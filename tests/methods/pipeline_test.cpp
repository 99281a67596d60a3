#include "ecotone/methods/pipeline.h"

#include "ecotone/evaluate/adapting.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "methods/support.h"

namespace ecotone::test {
namespace pipeline_test {

std::string parse_code(std::string_view text) {
  return code_of([&] { Pipeline::parse(text); });
}
std::string parse_message(std::string_view text) {
  return message_of([&] { Pipeline::parse(text); });
}

TEST(Pipeline, ReadsStagesAndOptions) {
  const Pipeline pipeline = Pipeline::parse("  impute strategy=median   indicator=true|scale|\tlogistic l2=0.10 ");
  ASSERT_EQ(pipeline.stages().size(), 3U);
  EXPECT_EQ(pipeline.stages()[0].options.at("strategy"), "median");
  EXPECT_EQ(pipeline.stages()[2].options.at("l2"), 0.1);
  EXPECT_EQ(pipeline.stages()[2].options.at("max_iterations"), 1000);
  EXPECT_TRUE(pipeline.predicts());
  EXPECT_FALSE(Pipeline::parse("scale").predicts());
}

TEST(Pipeline, CanonicalTextReadsBackAsTheSame) {
  const Pipeline pipeline =
      Pipeline::parse("impute  value='-2.50' strategy=\"constant\" indicator=false | logistic norm=sum l2=0");
  EXPECT_EQ(pipeline.text(), "impute strategy=constant value=-2.5 | logistic l2=0 norm=sum");
  EXPECT_EQ(Pipeline::parse(pipeline.text()).text(), pipeline.text());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Pipeline::parse(pipeline.text()).stages()[i].options.to_json(), pipeline.stages()[i].options.to_json());
  }
}

TEST(Pipeline, IsSharedByRanksIfAllItsStagesAre) {
  for (const char* text : {"scale | logistic", "logistic l1=0.1", "scale | svm kernel=linear", "trees",
                           "scale | dica route=low_rank rank=20 | logistic", "scale | ridge", "scale | anchor"})
    EXPECT_TRUE(Pipeline::parse(text).shared_by_ranks()) << text;
  for (const char* text :
       {"impute | scale | logistic", "scale | svm", "scale | dica | logistic", "tgreedy steps=3 | logistic"})
    EXPECT_FALSE(Pipeline::parse(text).shared_by_ranks()) << text;
}

TEST(Pipeline, QuotesMayStandAnywhereInAValue) {
  EXPECT_EQ(Pipeline::parse("logistic l2=0'.'5").text(), "logistic l2=0.5");
  EXPECT_EQ(Pipeline::parse("logistic 'norm'=\"su\"m").text(), "logistic norm=sum");
  EXPECT_EQ(Pipeline::parse("scale\n|\r\nlogistic").text(), "scale | logistic");
  // With l1, l2 is 0 unless it is given.
  for (const char* text : {"logistic l1=0.1", "logistic l2=auto l1=0.1", "logistic l2=0", "logistic l2=auto l1=auto"})
    EXPECT_EQ(Pipeline::parse(text).text(), text);
  EXPECT_EQ(Pipeline::parse("logistic l1=0.1").stages()[0].options.at("l2"), 0.0);
  EXPECT_EQ(Pipeline::parse("logistic l1=0.1 l2=auto").stages()[0].options.at("l2"), "auto");
  EXPECT_EQ(Pipeline::parse("logistic l1=0 l2=auto").text(), "logistic");
  // A doubled quote is one, so this is the value s'um.
  EXPECT_NE(parse_message("logistic norm='s''um'").find("s'um"), std::string::npos)
      << parse_message("logistic norm='s''um'");
}

TEST(Pipeline, SaysWhereTextIsWrong) {
  EXPECT_EQ(parse_code(""), "empty_pipeline");
  EXPECT_EQ(parse_code(" \t\n"), "empty_pipeline");
  EXPECT_EQ(parse_message("scale | | logistic"), "a pipeline stage is empty (position 7)");
  EXPECT_EQ(parse_message("scale |"), "a pipeline stage is empty (position 7)");
  EXPECT_EQ(parse_message("| scale"), "a pipeline stage is empty (position 1)");
  EXPECT_EQ(parse_code("|"), "bad_pipeline");
  EXPECT_EQ(parse_code("logistic l2"), "bad_pipeline");
  EXPECT_NE(parse_message("logistic l2 = 3").find("(position 10)"), std::string::npos)
      << parse_message("logistic l2 = 3");
  EXPECT_EQ(parse_code("logistic =3"), "bad_pipeline");
  EXPECT_EQ(parse_code("l2=3"), "bad_pipeline");
  EXPECT_EQ(parse_message("scale | logistic l2='3"), "a quote ' is not closed (position 21)");
  EXPECT_EQ(parse_code("scale logistic"), "bad_pipeline");
}

TEST(Pipeline, SuggestsNames) {
  EXPECT_EQ(parse_message("scale | logitic"), "unknown method 'logitic'; did you mean 'logistic'?");
  EXPECT_EQ(parse_message("logistic l3=1"), "unknown option 'l3' of logistic; did you mean 'l2'?");
  EXPECT_EQ(parse_code("logitic"), "unknown_method");
  EXPECT_EQ(parse_code("qqqqqqqqqqqq"), "unknown_method");
  EXPECT_EQ(parse_code("logistic l2=-1"), "bad_option");
  EXPECT_EQ(parse_code("logistic l2=1 l2=2"), "repeated_option");
}

TEST(Pipeline, ALearnerEndsIt) {
  EXPECT_EQ(parse_code("logistic | scale"), "learner_not_last");
  EXPECT_EQ(parse_code("constant | logistic"), "learner_not_last");
  EXPECT_EQ(parse_code("logistic | calibrate | scale"), "learner_not_last");
  EXPECT_EQ(code_of([] { Pipeline(std::vector<Stage>{}); }), "empty_pipeline");
}

TEST(Pipeline, AStageThatRevisesPredictionsStandsBehindALearner) {
  const Pipeline pipeline = Pipeline::parse("scale | logistic l2=0.5 | calibrate method=isotonic");
  EXPECT_TRUE(pipeline.predicts());
  EXPECT_EQ(pipeline.text(), "scale | logistic l2=0.5 | calibrate method=isotonic");
  EXPECT_EQ(pipeline.before_last().text(), "scale | logistic l2=0.5");
  EXPECT_EQ(parse_code("calibrate"), "needs_learner");
  EXPECT_EQ(parse_code("scale | calibrate"), "needs_learner");
  EXPECT_EQ(parse_code("logistic | calibrate | calibrate"), "learner_not_last");
  EXPECT_EQ(parse_code("logistic | scale | calibrate"), "learner_not_last");
  EXPECT_EQ(parse_message("calibrate"),
            "calibrate revises the predictions of a learner, so it must follow one, as in 'logistic | calibrate'");
  // Several may stand there; nothing behind sets.
  EXPECT_EQ(Pipeline::parse("logistic | calibrate | conformal").first(2).text(), "logistic | calibrate");
  EXPECT_EQ(parse_code("logistic | conformal | calibrate"), "learner_not_last");
}

TEST(Pipeline, SetsDoNotStandBehindACorrectionForATarget) {
  EXPECT_EQ(parse_code("logistic | adapt.prior | conformal"), "sets_after_adapting");
  EXPECT_EQ(parse_code("scale | logistic | adapt.prior | calibrate | conformal"), "sets_after_adapting");
  EXPECT_EQ(parse_code("logistic | adapt.prior"), "none");
  const std::string message = parse_message("logistic | adapt.prior | conformal");
  EXPECT_NE(message.find("conformal cannot stand behind adapt.prior"), std::string::npos) << message;
}

TEST(Pipeline, SetsWeightedToATargetAdapt) {
  EXPECT_TRUE(adapts(Pipeline::parse("logistic | conformal method=weighted")));
  EXPECT_TRUE(adapts(Pipeline::parse("logistic | adapt.prior")));
  EXPECT_FALSE(adapts(Pipeline::parse("logistic | conformal")));
  EXPECT_FALSE(adapts(Pipeline::parse("logistic")));
}

TEST(Pipeline, AnyBytesGiveAPipelineOrAnError) {
  const std::string alphabet = "sl |='\"\\=l2scale\xff\n0.1-e";
  Random random(5, "pipeline-bytes");
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 ? "scale | logistic l2=0.5" : "";
    for (std::uint64_t k = 1 + random.below(8); k > 0; --k) {
      text.insert(random.below(text.size() + 1), 1, alphabet[random.below(alphabet.size())]);
    }
    try {
      const Pipeline pipeline = Pipeline::parse(text);
      EXPECT_EQ(Pipeline::parse(pipeline.text()).text(), pipeline.text()) << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::option) << text;
    }
  }
}

TEST(Registry, ListsMethodsInTheOrderOfTheFile) {
  ASSERT_GE(methods().size(), 4U);
  EXPECT_EQ(methods()[0].name, "impute");
  EXPECT_EQ(&method("scale"), &methods()[1]);
  EXPECT_EQ(code_of([] { method(""); }), "unknown_method");
}

TEST(Registry, JsonHasNullForNoLimit) {
  const Json json = to_json(method("logistic"));
  EXPECT_EQ(json["citation"], "sayed2022");
  EXPECT_EQ(json["family"], "learn");
  const Json& l2 = json["options"][0];
  EXPECT_EQ(l2["name"], "l2");
  EXPECT_EQ(l2["low"], 0.0);
  EXPECT_TRUE(l2["high"].is_null());
  EXPECT_EQ(json["options"][5]["choices"], Json({"count", "sum"}));
}

}  // namespace pipeline_test
}  // namespace ecotone::test
