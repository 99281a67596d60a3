#include "ecotone/report/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/report/html/page.h"

namespace ecotone {
namespace html_test {

using testing::HasSubstr;
using testing::Not;

Json domain(const std::string& name, const Json& auroc, double accuracy) {
  return {{"domain", name}, {"rows", 120}, {"metrics", {{"accuracy", accuracy}, {"auroc", auroc}}}};
}

Json two_pipelines() {
  return {{"protocol", "leave-one-domain-out"},
          {"metrics", {"accuracy", "auroc"}},
          {"pipelines",
           {{{"pipeline", "constant"},
             {"domains", {domain("Basel", 0.5, 0.6), domain("Turin", 0.5, 0.7), domain("one class", nullptr, 1.0)}},
             {"mean", {{"accuracy", 0.7667}, {"auroc", 0.5}}},
             {"spread", {{"accuracy", 0.2082}, {"auroc", 0.0}}},
             {"difference", Json::object()}},
            {{"pipeline", "scale | logistic"},
             {"domains", {domain("Basel", 0.8, 0.7), domain("Turin", 0.82, 0.75), domain("one class", nullptr, 0.9)}},
             {"mean", {{"accuracy", 0.7833}, {"auroc", 0.81}}},
             {"spread", {{"accuracy", 0.1041}, {"auroc", 0.0141}}},
             {"difference",
              {{"accuracy", {{"mean", 0.0167}, {"low", -0.2418}, {"high", 0.2752}}},
               {"auroc", {{"mean", 0.31}, {"low", 0.1829}, {"high", 0.4371}}}}}}}}};
}

/// Whether tags nest and close; void elements must close themselves.
std::string balance_error(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    if (page.compare(at, 9, "<!DOCTYPE") == 0) continue;
    std::size_t end = at + 1;
    for (bool quoted = false; end < page.size() && (quoted || page[end] != '>'); ++end) quoted ^= page[end] == '"';
    if (end >= page.size()) return "tag without end";
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.empty() || !(std::isalpha(static_cast<unsigned char>(tag[0])) || tag[0] == '/'))
      return "bad tag <" + tag + ">";
    if (tag.back() == '/') continue;
    const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" \n", 1) - (tag[0] == '/'));
    if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes <" + (open.empty() ? "" : open.back()) + ">";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

TEST(HtmlReport, IsWellFormedAndSelfContained) {
  const std::string page = html_report(two_pipelines(), "Two hospitals");
  EXPECT_EQ(balance_error(page), "");
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("<title>Two hospitals</title>"));
  EXPECT_THAT(html_report(two_pipelines(), ""), HasSubstr("<h1>What a new domain costs</h1>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  for (const char* outside : {"http://", "https://", "<script", "<link", "<img", "src=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(HtmlReport, AnswersInWords) {
  const std::string page = html_report(two_pipelines(), "t");
  EXPECT_THAT(
      page,
      HasSubstr("<b class=\"tag\">B</b> <code>scale | logistic</code> loses least in a domain it has never seen: AUROC "
                "<strong>0.8100</strong> on average over 2 domains."));
  // Differences 0.30 and 0.32: 0.31 +- 12.7062 x 0.0141421 / sqrt(2)
  EXPECT_THAT(page, HasSubstr("the difference is <strong>+0.3100</strong> on average"));
  EXPECT_THAT(page, HasSubstr("interval from +0.1829 to +0.4371"));
  EXPECT_THAT(page, HasSubstr("excludes zero"));
  EXPECT_THAT(page, HasSubstr("Its hardest domain is <strong>Basel</strong> with 0.8000."));
}

TEST(HtmlReport, WhenTheFirstIsBestItIsComparedWithTheNext) {
  Json json = two_pipelines();
  std::swap(json["pipelines"][0], json["pipelines"][1]);
  json["pipelines"][0]["difference"] = Json::object();
  json["pipelines"][1]["difference"] = {{"auroc", {{"mean", -0.31}, {"low", -0.4371}, {"high", -0.1829}}}};
  const std::string page = html_report(json, "t");
  EXPECT_THAT(page, HasSubstr("<b class=\"tag\">A</b> <code>scale | logistic</code> loses least"));
  EXPECT_THAT(page, HasSubstr("the difference is <strong>+0.3100</strong>"));
  EXPECT_THAT(page, HasSubstr("<em class=\"worse\">worse</em>"));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, TablesHaveCaptionsAndScopes) {
  const std::string page = html_report(two_pipelines(), "t");
  EXPECT_THAT(page, HasSubstr("<caption>AUROC by domain and pipeline"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">Basel</th><td class=\"num rows\">120</td>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num best\">0.8200<i class=\"bar\"><i style=\"width:82.0%\">"));
  EXPECT_THAT(page, HasSubstr("not defined"));
}

TEST(HtmlReport, UserTextIsEscapedEverywhere) {
  const std::string attack = "<script>alert('x')</script>\"&";
  Json json = two_pipelines();
  for (auto& pipeline : json["pipelines"]) {
    pipeline["pipeline"] = attack;
    for (auto& one : pipeline["domains"]) one["domain"] = attack;
  }
  json["protocol"] = attack;
  const std::string page = html_report(json, attack);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;</title>"));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, OnePipelineOneDomainAndNothingDefined) {
  Json json = two_pipelines();
  json["pipelines"].erase(1);
  EXPECT_THAT(html_report(json, "t"), Not(HasSubstr("Difference from the first")));
  EXPECT_EQ(balance_error(html_report(json, "t")), "");
  for (const char* key : {"mean", "spread"})
    for (const char* name : {"accuracy", "auroc"}) json["pipelines"][0][key][name] = nullptr;
  for (auto& one : json["pipelines"][0]["domains"]) one["metrics"] = {{"accuracy", nullptr}, {"auroc", nullptr}};
  const std::string page = html_report(json, "t");
  EXPECT_THAT(page, HasSubstr("nothing to compare"));
  EXPECT_EQ(balance_error(page), "");
  json["pipelines"][0]["domains"] = Json::array();
  EXPECT_EQ(balance_error(html_report(json, "t")), "");
}

TEST(HtmlReport, RegressionIsAboutRmse) {
  const auto one = [](double v) {
    return Json{{"domain", "a"}, {"rows", 5}, {"metrics", {{"rmse", v}, {"mae", v}, {"r2", -3.0}}}};
  };
  const Json json = {{"protocol", "k-fold"},
                     {"metrics", {"rmse", "mae", "r2"}},
                     {"pipelines",
                      {{{"pipeline", "constant"},
                        {"domains", Json::array({one(123456.5)})},
                        {"mean", {{"rmse", 123456.5}, {"mae", 123456.5}, {"r2", -3.0}}},
                        {"spread", {{"rmse", nullptr}, {"mae", nullptr}, {"r2", nullptr}}},
                        {"difference", Json::object()}}}}};
  const std::string page = html_report(json, "t");
  EXPECT_THAT(page, HasSubstr("RMSE in each domain"));
  EXPECT_THAT(page, HasSubstr("−3.0000"));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, OtherJsonIsRefusedByName) {
  const auto code_and_text = [](const Json& json) -> std::string {
    try {
      html_report(json, "t");
    } catch (const Error& error) {
      return error.code() + ": " + error.what();
    }
    return "no error";
  };
  EXPECT_THAT(code_and_text(Json::array()), testing::StartsWith("bad_results"));
  EXPECT_THAT(code_and_text({{"protocol", "adapt"}}), HasSubstr("'metrics' is missing"));
  // Each member in turn is taken away or replaced by something else: an error, never a crash.
  const Json whole = two_pipelines();
  const Json flat = whole.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (value.is_null()) continue;
    Json broken = whole;
    broken[Json::json_pointer(path)] = Json::array({Json::object()});
    EXPECT_THAT(code_and_text(broken), testing::StartsWith("bad_results")) << path;
  }
  Json unequal = whole;
  unequal["pipelines"][1]["domains"].erase(0);
  EXPECT_THAT(code_and_text(unequal), HasSubstr("different domains"));
}

TEST(Escape, EntitiesAndBrokenText) {
  EXPECT_EQ(report::escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(report::escape("Zürich 北京"), "Zürich 北京");
  EXPECT_EQ(report::escape(std::string("\x01\xFFz", 3)), "\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(Number, ForReaders) {
  EXPECT_EQ(report::number(0.81234), "0.8123");
  EXPECT_EQ(report::number(-0.25), "−0.2500");
  EXPECT_EQ(report::number(123456.0), "1.235e+05");
  EXPECT_EQ(report::number(-1e-17), "0.0000");
  EXPECT_EQ(report::number({}), "–");
  EXPECT_EQ(report::number(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(report::signed_number(0.5), "+0.5000");
  EXPECT_EQ(report::signed_number(0.0), "0.0000");
}

}  // namespace html_test
}  // namespace ecotone
