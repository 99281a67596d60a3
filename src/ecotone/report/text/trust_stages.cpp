#include <fmt/format.h>

#include <algorithm>

#include "ecotone/base/json.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"

namespace ecotone {
namespace {

std::string rounded(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>())
         : value.is_string()     ? one_line(value.get<std::string>())
                                 : value.dump();
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) result += "    ";
  }
  return result;
}

std::string facts(const Json& stage, std::initializer_list<const char*> keys) {
  std::string text;
  for (const char* key : keys)
    if (stage.contains(key)) text += fmt::format("  {:<16} {}\n", key, rounded(stage[key]));
  return text;
}

}  // namespace

std::string conformal_stage_text(const Json& stage) {
  std::string text = wrapped(one_line(stage["promise"].get<std::string>()), page_width, "  promise          ");
  text += facts(stage, {"method", "score", "level", "share", "quantile", "domains", "rows", "largest_level",
                        "useful_level", "models", "ess_of_weights", "exponent", "infinite_share"});
  TextTable table;
  table.columns = {{"covered by models and quantiles without the domain", true}, {"rows"}, {"coverage"}, {"size"}};
  for (const Json& domain : stage["domains_covered"])
    table.lines.push_back({display_text(domain["domain"].get<std::string>(), longest_domain), domain["rows"].dump(),
                           rounded(domain["coverage"]), rounded(domain["size"])});
  return text + "\n" + indented(table.text());
}

/// Says what standard errors leave out where domains are too few to be drawn.
std::string few_domains_text(const std::string& error_from) {
  return error_from.starts_with("source rows") ? " (domain-to-domain variation is not in them)" : "";
}

/// Says where the likelihood is greatest without a class.
std::string border_text(const Json& target_share) {
  const bool border = std::ranges::any_of(
      target_share, [](const Json& share) { return share.is_number() && share.get<double>() < 1e-6; });
  return border ? "; the shares lie on the border, where standard errors say little" : "";
}

std::string prior_stage_text(const Json& stage, const std::vector<std::string>& classes) {
  std::string text = fmt::format("  {:<16} {} ({})\n", "corrects", stage["corrects"].get<bool>() ? "yes" : "no",
                                 rounded(stage["reason"]));
  text += facts(stage, {"gain", "gain_error", "log_loss_gain", "inverse_temperature"});
  TextTable table;
  table.columns = {{"class", true}, {"sources"}};
  const Json& targets = stage["targets"];
  for (const Json& target : targets) {
    table.columns.push_back({display_text(target["domain"].get<std::string>(), longest_domain)});
    table.columns.push_back({"se"});
  }
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::string> line = {display_text(classes[c], longest_domain), rounded(stage["source_share"][c])};
    for (std::size_t t = 0; t < targets.size(); ++t) {
      line.push_back(rounded(stage["target_share"][t][c]));
      line.push_back(rounded(stage["target_share_error"][t][c]));
    }
    table.lines.push_back(std::move(line));
  }
  text += "\n" + indented(table.text());
  std::size_t t = 0;
  for (const Json& target : targets)
    text += wrapped(
        fmt::format("'{}': standard errors from {}{}; do its classes look as in the sources? X2 {} on {} degrees of "
                    "freedom, p {}, rank p among the sources {}",
                    one_line(target["domain"].get<std::string>()), rounded(target["error_from"]),
                    few_domains_text(target["error_from"].get<std::string>()), rounded(target["x2"]),
                    rounded(target["freedom"]), rounded(target["p_value"]), rounded(target["rank_p"])) +
            border_text(stage["target_share"][t++]),
        page_width, "    ");
  if (!stage.contains("replay")) return text;
  TextTable replay;
  replay.columns = {{"played the target", true}, {"gain"}, {"of log loss"}, {"error of shares"}, {"of the sources'"}};
  for (const Json& domain : stage["replay"])
    replay.lines.push_back({display_text(domain["domain"].get<std::string>(), longest_domain), rounded(domain["gain"]),
                            domain.contains("log_loss_gain") ? rounded(domain["log_loss_gain"]) : "-",
                            rounded(domain["distance"]), rounded(domain["source_distance"])});
  return text + "\n" + indented(replay.text());
}

}  // namespace ecotone
