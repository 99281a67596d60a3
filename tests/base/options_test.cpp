#include "ecotone/base/options.h"

#include <cmath>

#include "base/temp_folder.h"
#include "error_code.h"

namespace ecotone {
namespace options_test {

enum class Shape { round, square, long_one };

struct DemoOptions {
  bool center = true;
  int steps = 25;
  double l2 = 0.01;
  double share = 0.5;
  AutoNumber width;
  Shape shape = Shape::square;
  std::vector<double> grid{0.1, 1, 10};
  std::string name = "x";
  FilePath table;

  static constexpr auto fields() {
    return std::tuple{field("center", &DemoOptions::center, "Subtract the mean"),
                      field("steps", &DemoOptions::steps, "How many", at_least(1)),
                      field("l2", &DemoOptions::l2, "Penalty", at_least(0.0)),
                      field("share", &DemoOptions::share, "Part", between(0, 1)),
                      field("width", &DemoOptions::width, "Of the kernel", above(0.0)),
                      field("shape", &DemoOptions::shape, "Form", one_of("round", "square", "long")),
                      field("grid", &DemoOptions::grid, "Tried", above(0.0)),
                      field("name", &DemoOptions::name, "Any text"),
                      field("table", &DemoOptions::table, "A file")};
  }
};

const std::vector<OptionInfo>& infos() {
  static const std::vector<OptionInfo> all = describe_options<DemoOptions>();
  return all;
}

DemoOptions parsed(const OptionTexts& given) {
  return read_options<DemoOptions>(complete_options("demo", infos(), given));
}

std::string refused(const std::string& name, const std::string& text, const std::string& code = "bad_option") {
  return message_of(ErrorKind::option, code, [&] { complete_options("demo", infos(), OptionTexts{{name, text}}); });
}

std::string refused_json(const char* json, const std::string& code = "bad_option") {
  return message_of(ErrorKind::option, code, [&] { complete_options("demo", infos(), Json::parse(json)); });
}

TEST(Options, DefaultsAreTheMembers) {
  const DemoOptions options = parsed({});
  EXPECT_TRUE(options.center);
  EXPECT_EQ(options.steps, 25);
  EXPECT_EQ(options.l2, 0.01);
  EXPECT_TRUE(options.width.is_auto());
  EXPECT_EQ(options.shape, Shape::square);
  EXPECT_EQ(options.grid, (std::vector<double>{0.1, 1, 10}));
  EXPECT_EQ(options.name, "x");
  EXPECT_EQ(options.table.path, "");
}

TEST(Options, TextsAreRead) {
  const DemoOptions options = parsed({{"shape", "long"},
                                      {"center", "false"},
                                      {"steps", "2147483647"},
                                      {"l2", "1e-3"},
                                      {"width", "2.5"},
                                      {"grid", "1,2.5,1e2"},
                                      {"name", "a b|c"},
                                      {"table", "/tmp/x y.csv"}});
  EXPECT_FALSE(options.center);
  EXPECT_EQ(options.steps, 2147483647);
  EXPECT_EQ(options.l2, 1e-3);
  EXPECT_EQ(options.width.value, 2.5);
  EXPECT_EQ(options.shape, Shape::long_one);
  EXPECT_EQ(options.grid, (std::vector<double>{1, 2.5, 100}));
  EXPECT_EQ(options.name, "a b|c");
  EXPECT_EQ(options.table.path, "/tmp/x y.csv");
  EXPECT_TRUE(parsed({{"grid", ""}}).grid.empty());
}

TEST(Options, ChoicesMayBeSpeltWithOrWithoutHyphens) {
  const std::vector<OptionInfo> infos = {
      {"route", OptionType::choice, "How", one_of("auto", "low_rank", "k-fold"), "auto", false}};
  for (const char* text : {"low_rank", "lowrank", "low-rank"}) {
    EXPECT_EQ(complete_options("demo", infos, OptionTexts{{"route", text}}).at("route"), "low_rank") << text;
    EXPECT_EQ(complete_options("demo", infos, Json{{"route", text}}).at("route"), "low_rank") << text;
  }
  EXPECT_EQ(complete_options("demo", infos, OptionTexts{{"route", "kfold"}}).at("route"), "k-fold");
  for (const char* text : {"", "-", "_", "low rank", "lowran"}) {
    const auto read = [&] { complete_options("demo", infos, OptionTexts{{"route", text}}); };
    EXPECT_EQ(test::code_of(read), "bad_option") << text;
  }
}

struct Shared {
  int own = 1, all = 2;
  static constexpr auto fields() {
    return std::tuple{common_field("all", &Shared::all, "Of all"), field("own", &Shared::own, "Its own")};
  }
};

TEST(Options, CommonOnesAreMarked) {
  const std::vector<OptionInfo> infos = describe_options<Shared>();
  EXPECT_TRUE(infos[0].common);
  EXPECT_FALSE(infos[1].common);
}

TEST(Options, ValuesComeInDeclarationOrder) {
  const OptionValues values = complete_options("demo", infos(), OptionTexts{{"l2", "1"}, {"center", "false"}});
  EXPECT_EQ(values.to_json().dump(),
            R"({"center":false,"steps":25,"l2":1.0,"share":0.5,"width":"auto","shape":"square","grid":[0.1,1.0,10.0],)"
            R"("name":"x","table":""})");
  EXPECT_TRUE(values.has("l2"));
  EXPECT_FALSE(values.has("l3"));
}

TEST(Options, BadTextsAreRefusedByName) {
  EXPECT_EQ(refused("l2", "-1"), "demo: l2 must be >= 0, got -1");
  EXPECT_EQ(refused("l2", "abc"), "demo: l2 must be a number, got abc");
  EXPECT_EQ(refused("l2", ""), "demo: l2 must be a number, got ''");
  for (const char* text : {"1x", " 1", "1 ", "inf", "nan", "-inf", "1e999", "0x1p3", "+1", "1,2", "1e", "--1"})
    refused("l2", text);
  EXPECT_EQ(refused("share", "1.5"), "demo: share must be in [0, 1], got 1.5");
  EXPECT_EQ(refused("width", "0"), "demo: width must be > 0 or auto, got 0");
  EXPECT_EQ(refused("width", "Auto"), "demo: width must be a number or auto, got Auto");
  EXPECT_EQ(refused("center", "yes"), "demo: center must be true or false, got yes");
  EXPECT_EQ(refused("shape", "sqare"),
            "demo: shape must be one of round, square, long, got sqare; did you mean 'square'?");
  EXPECT_EQ(refused("shape", "zzz"), "demo: shape must be one of round, square, long, got zzz");
  EXPECT_EQ(refused("grid", "1,,2"), "demo: grid must be a list of numbers such as 1,2.5, got 1,,2");
  for (const char* text : {",", "1,", ",1", "1;2", "1, 2"}) refused("grid", text);
  EXPECT_EQ(refused("grid", "1,-2"), "demo: grid must be > 0, got 1,-2");
  EXPECT_EQ(refused("name", "\xff\xfe"), "demo: name must be UTF-8 text");
}

TEST(Options, IntegersAreWholeAndFit) {
  EXPECT_EQ(refused("steps", "1.5"), "demo: steps must be a whole number, got 1.5");
  EXPECT_EQ(refused("steps", "1e3"), "demo: steps must be a whole number, got 1e3");
  EXPECT_EQ(refused("steps", "0"), "demo: steps must be >= 1, got 0");
  EXPECT_EQ(refused("steps", "2147483648"), "demo: steps must be in [-2147483648, 2147483647], got 2147483648");
  EXPECT_EQ(refused("steps", "-2147483649"), "demo: steps must be >= 1, got -2147483649");
  EXPECT_EQ(refused("steps", "18446744073709551617"),
            "demo: steps must be in [-2147483648, 2147483647], got 18446744073709551617");
  EXPECT_EQ(refused("steps", "-" + std::string(400, '9')), "demo: steps must be >= 1, got -" + std::string(400, '9'));
  for (const char* text : {"", "-", "+3", " 3", "3 ", "abc", "0x10", "--3"}) refused("steps", text);
}

TEST(Options, UnknownAndRepeatedNames) {
  EXPECT_EQ(refused("l3", "1", "unknown_option"), "unknown option 'l3' of demo; did you mean 'l2'?");
  EXPECT_EQ(
      refused("zzzzzz", "1", "unknown_option"),
      "unknown option 'zzzzzz' of demo; its options are center, steps, l2, share, width, shape, grid, name, table");
  EXPECT_EQ(message_of(ErrorKind::option, "unknown_option",
                       [] {
                         complete_options("none", {}, OptionTexts{{"a", "1"}});
                       }),
            "unknown option 'a' of none; it has no options");
  EXPECT_EQ(message_of(ErrorKind::option, "repeated_option",
                       [] {
                         complete_options("demo", infos(), OptionTexts{{"l2", "1"}, {"l2", "2"}});
                       }),
            "demo: l2 is given twice");
}

TEST(Options, JsonIsCheckedAgain) {
  const auto options = read_options<DemoOptions>(complete_options(
      "demo", infos(), Json::parse(R"({"steps": 3, "l2": 2, "width": "auto", "grid": [1], "shape": "round"})")));
  EXPECT_EQ(options.steps, 3);
  EXPECT_EQ(options.l2, 2.0);
  EXPECT_EQ(options.shape, Shape::round);
  EXPECT_EQ(refused_json(R"({"l2": -1})"), "demo: l2 must be >= 0, got -1");
  EXPECT_EQ(refused_json(R"({"l3": 1})", "unknown_option"), "unknown option 'l3' of demo; did you mean 'l2'?");
  EXPECT_EQ(refused_json("[1]"), "demo: options must be a JSON object, got array");
  EXPECT_EQ(refused_json(R"({"steps": 1.5})"), "demo: steps must be a whole number, got 1.5");
  EXPECT_EQ(refused_json(R"({"steps": 4294967297})"),
            "demo: steps must be in [-2147483648, 2147483647], got 4294967297");
  EXPECT_EQ(refused_json(R"({"steps": 18446744073709551615})"),
            "demo: steps must be in [-2147483648, 2147483647], got 18446744073709551615");
  for (const char* json :
       {R"({"steps": "3"})", R"({"steps": null})", R"({"center": 1})", R"({"l2": "1"})", R"({"l2": [1]})",
        R"({"width": true})", R"({"width": "x"})", R"({"shape": "blue"})", R"({"shape": 0})", R"({"grid": 1})",
        R"({"grid": ["1"]})", R"({"grid": [-1]})", R"({"name": 1})", R"({"table": {}})"})
    refused_json(json);
}

TEST(Options, CanonicalTextReadsBackTheSame) {
  const std::vector<OptionTexts> cases{
      {},
      {{"l2", "0.1"}, {"steps", "7"}, {"width", "1e-300"}, {"grid", "3,0.30000000000000004,1e+22"}},
      {{"center", "false"}, {"shape", "long"}, {"share", "0.333333333333333314829616256247"}, {"name", "two words"}},
      {{"name", ""}, {"grid", ""}, {"table", "a'b.csv"}},
  };
  for (const OptionTexts& given : cases) {
    const OptionValues values = complete_options("demo", infos(), given);
    OptionTexts printed;
    for (const auto& [name, value] : values.items()) {
      std::string text = option_text(value);
      if (text.starts_with('\'') || text.starts_with('"')) text = text.substr(1, text.size() - 2);
      printed.emplace_back(name, text);
    }
    EXPECT_EQ(complete_options("demo", infos(), printed).to_json(), values.to_json());
    EXPECT_EQ(complete_options("demo", infos(), values.to_json()).to_json(), values.to_json());
  }
}

TEST(Options, CanonicalTextIsShortAndQuotedWhenNeeded) {
  EXPECT_EQ(option_text(0.1), "0.1");
  EXPECT_EQ(option_text(1.0), "1");
  EXPECT_EQ(option_text(1e22), "1e+22");
  EXPECT_EQ(option_text(7), "7");
  EXPECT_EQ(option_text(true), "true");
  EXPECT_EQ(option_text("auto"), "auto");
  EXPECT_EQ(option_text(Json::array({0.5, 2.0})), "0.5,2");
  EXPECT_EQ(option_text(Json::array()), "''");
  EXPECT_EQ(option_text(""), "''");
  EXPECT_EQ(option_text("a b"), "'a b'");
  EXPECT_EQ(option_text("a|b"), "'a|b'");
  EXPECT_EQ(option_text("a=b"), "'a=b'");
  EXPECT_EQ(option_text("it's"), "\"it's\"");
  EXPECT_EQ(option_text("'\""), "'''\"'");
  EXPECT_EQ(option_text("/data/gr\xc3\xb6\xc3\x9f"
                        "e.csv"),
            "/data/gr\xc3\xb6\xc3\x9f"
            "e.csv");
}

TEST(Limits, SayThemselves) {
  EXPECT_EQ(anything().text(), "");
  EXPECT_EQ(at_least(1).text(), "must be >= 1");
  EXPECT_EQ(above(0.5).text(), "must be > 0.5");
  EXPECT_EQ(between(0, 1).text(), "must be in [0, 1]");
  EXPECT_EQ((Limits{.low = 0, .high = 1, .open_low = true, .open_high = true}).text(), "must be in (0, 1)");
  EXPECT_EQ((Limits{.high = 3}).text(), "must be <= 3");
  EXPECT_EQ((Limits{.high = 3, .open_high = true}).text(), "must be < 3");
  EXPECT_EQ(one_of("mean", "median").text(), "must be one of mean, median");
}

TEST(Limits, Contain) {
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_TRUE(between(0, 1).contains(1));
  EXPECT_FALSE(between(0, 1).contains(1.0001));
  EXPECT_FALSE(anything().contains(std::nan("")));
}

TEST(DidYouMean, FindsTheNearest) {
  const std::vector<std::string> names{"logistic", "scale", "impute", "constant", "l2", "weight.logistic"};
  EXPECT_EQ(did_you_mean("logisitc", names), "logistic");
  EXPECT_EQ(did_you_mean("scal", names), "scale");
  EXPECT_EQ(did_you_mean("l3", names), "l2");
  EXPECT_EQ(did_you_mean("Impute", names), "impute");
  EXPECT_EQ(did_you_mean("cons", names), "constant");
  EXPECT_EQ(did_you_mean("w", names), "weight.logistic");
  EXPECT_EQ(did_you_mean("xy", names), "");
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean("forest", names), "");
  EXPECT_EQ(did_you_mean("a", {}), "");
}

TEST(OrList, JoinsNames) {
  EXPECT_EQ(or_list({}), "");
  EXPECT_EQ(or_list({"a"}), "a");
  EXPECT_EQ(or_list({"a", "b"}), "a or b");
  EXPECT_EQ(or_list({"a", "b", "c"}), "a, b or c");
}

struct WordOptions {
  WordOrNumber flatten;
  WordOrNumber clip{.value = 2.5};

  static constexpr auto fields() {
    return std::tuple{field("flatten", &WordOptions::flatten, "Rows", or_words(at_least(1.0), "auto", "none")),
                      field("clip", &WordOptions::clip, "Multiple", or_words(anything(), "none"))};
  }
};

TEST(Options, ANumberMayBeAWord) {
  const auto infos = describe_options<WordOptions>();
  const auto read = [&](const OptionTexts& texts) {
    return read_options<WordOptions>(complete_options("demo", infos, texts));
  };
  EXPECT_TRUE(read({}).flatten.is_word(0));
  EXPECT_EQ(read({}).clip.value, 2.5);
  EXPECT_TRUE(read({{"flatten", "none"}, {"clip", "none"}}).flatten.is_word(1));
  EXPECT_TRUE(read({{"flatten", "none"}, {"clip", "none"}}).clip.is_word(0));
  EXPECT_EQ(read({{"flatten", "40"}}).flatten.value, 40);
  EXPECT_EQ(complete_options("demo", infos, Json{{"flatten", 40.0}}).at("flatten"), Json(40.0));
  EXPECT_EQ(complete_options("demo", infos, Json{{"flatten", "none"}}).at("flatten"), Json("none"));
  const auto message = [&](const OptionTexts& texts) -> std::string {
    try {
      complete_options("demo", infos, texts);
    } catch (const Error& error) {
      return error.code() + " " + error.what();
    }
    return "";
  };
  EXPECT_EQ(message({{"flatten", "nine"}}), "bad_option demo: flatten must be auto, none or >= 1, got nine");
  EXPECT_EQ(message({{"flatten", "0.5"}}), "bad_option demo: flatten must be auto, none or >= 1, got 0.5");
  EXPECT_EQ(message({{"clip", "auto"}}), "bad_option demo: clip must be none or a number, got auto");
  EXPECT_THROW(complete_options("demo", infos, Json{{"flatten", true}}), Error);
  EXPECT_THROW(complete_options("demo", infos, Json{{"flatten", "some"}}), Error);
}

}  // namespace options_test
}  // namespace ecotone
