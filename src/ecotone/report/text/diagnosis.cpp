#include <algorithm>
#include <cmath>

#include "ecotone/diagnose/diagnose.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

constexpr Index name_width = 20;
constexpr std::size_t most_lines = 60;
constexpr std::size_t most_features = 15;
constexpr std::size_t most_classes = 6;

std::string name(std::string_view text) { return display_text(text, name_width); }
std::string short_name(std::string_view text) { return display_text(text, 14); }

std::string small(const std::optional<double>& value) {
  if (!value) return "-";
  const double shown = std::abs(*value) < 1e-12 ? 0.0 : *value;
  return std::abs(shown) >= 0.001 || shown == 0 ? fmt::format("{:.4f}", shown) : fmt::format("{:.1e}", shown);
}

std::string decimals(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value == 0 ? 0.0 : *value, digits) : "-";
}

std::string probability(const std::optional<double>& value) {
  if (!value) return "-";
  return *value < 0.001 ? "<0.001" : fmt::format("{:.3f}", *value);
}

std::string percent(const std::optional<double>& share) {
  if (!share) return "-";
  return *share > 0 && *share < 0.001 ? "<0.1%" : fmt::format("{:.{}f}%", 100 * *share, *share < 0.1 ? 1 : 0);
}

std::string more(std::size_t all, std::size_t shown, std::string_view what) {
  return all > shown ? fmt::format("({} more {}; --json lists them)\n", all - shown, what) : "";
}

std::string main_features(const Comparison& one, Index width) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, one.features.size()); ++i)
    if (one.features[i].q <= shift_level) text += (text.empty() ? "" : ", ") + one.features[i].feature;
  return display_text(text, width);
}

/// Whether all domains are compared with each other, or the targets with the others.
std::string what_differs(const Diagnosis& d) {
  const std::size_t all = d.domains.size(), compared = d.against_rest.size();
  if (compared == all) return fmt::format("{} domains differ", all);
  if (compared > 1) return fmt::format("{} of {} domains differ from the others", compared, all);
  return fmt::format("{} differs from {} other domain{}", name(d.against_rest.front().a), all - 1, all == 2 ? "" : "s");
}

/// The effective share; it means nothing if the samples do not overlap.
std::string kept(const Comparison& one, const std::optional<double>& share) {
  return share && one.apart() ? "apart" : percent(share);
}

std::string apart_note(const std::vector<Comparison>& comparisons) {
  const bool any = std::any_of(comparisons.begin(), comparisons.end(), [](const auto& one) { return one.apart(); });
  return any ? "apart: they hardly overlap, so weighting cannot help\n" : "";
}

std::string title(const Diagnosis& d) {
  std::string text =
      fmt::format("how {}: {} rows, {} feature{}\n", what_differs(d), d.rows, d.features, d.features == 1 ? "" : "s");
  if (!d.pipeline.empty()) text += fmt::format("on the features of {}\n", display_text(d.pipeline, 80));
  text += fmt::format("distributional variance {}, unbiased {}\n", small(d.variance), small(d.unbiased_variance));
  text += fmt::format("kernel width {:.4g}, the median distance between {} standardised rows\n", d.sigma, d.sigma_rows);
  if (d.missing_values > 0)
    text += "missing values are replaced by the column's mean, but ignored in the shift of single features\n";
  if (d.sampled())
    text += fmt::format("tests of more than {} rows use a sample; MMD² of more than 4000 is a mean over blocks\n",
                        d.sample);
  if (d.pairs.empty()) text += fmt::format("with more than {} domains, pairs are not compared\n", most_paired_domains);
  return text;
}

std::string rest_table(const Diagnosis& d) {
  TextTable table;
  table.columns = {{name(d.domain_word), true}, {"rows"}, {"MMD²"}, {"p"}, {"AUROC"}, {"A-dist"}, {"ESS"},
                   {"mostly in", true}};
  for (std::size_t i = 0; i < std::min(most_lines, d.against_rest.size()); ++i) {
    const Comparison& one = d.against_rest[i];
    table.lines.push_back({name(one.a), fmt::format("{}", one.rows_a), small(one.mmd2), probability(one.p),
                           decimals(one.auroc, 3), decimals(one.a_distance, 2), kept(one, one.ess_b_to_a),
                           main_features(one, 28)});
  }
  return "\neach against all others; ESS: effective share of the others left after weighting them towards it\n" +
         apart_note(d.against_rest) + table.text() + more(d.against_rest.size(), most_lines, "domains");
}

std::string pair_table(const Diagnosis& d) {
  TextTable table;
  table.columns = {{"a", true}, {"b", true}, {"MMD²"},           {"p"}, {"AUROC"}, {"A-dist"},
                   {"a to b"},  {"b to a"},  {"mostly in", true}};
  for (std::size_t i = 0; i < std::min(most_lines, d.pairs.size()); ++i) {
    const Comparison& one = d.pairs[i];
    table.lines.push_back({short_name(one.a), short_name(one.b), small(one.mmd2), probability(one.p),
                           decimals(one.auroc, 3), decimals(one.a_distance, 2), kept(one, one.ess_a_to_b),
                           kept(one, one.ess_b_to_a), main_features(one, 20)});
  }
  return "\npair by pair; a to b: effective share of a's rows left after weighting them towards b\n" +
         apart_note(d.pairs) + table.text() + more(d.pairs.size(), most_lines, "pairs");
}

std::string feature_table(const Diagnosis& d) {
  TextTable table;
  table.columns = {{"feature", true}, {"most in", true}, {"SMD"}, {"KS"}, {"q"}};
  for (std::size_t i = 0; i < std::min(most_features, d.feature_shift.size()); ++i) {
    const FeatureShift& one = d.feature_shift[i];
    table.lines.push_back({display_text(one.feature, 32), name(one.domain),
                           one.smd ? fmt::format("{:+.2f}", *one.smd == 0 ? 0.0 : *one.smd) : "-", decimals(one.ks, 3),
                           probability(one.q)});
  }
  return "\nshift of single features, one domain against all others, largest first\n" + table.text() +
         more(d.feature_shift.size(), most_features, "features");
}

std::string label_table(const Diagnosis& d) {
  if (d.labels.empty()) return "";
  TextTable table;
  table.columns = {{name(d.domain_word), true}, {"labelled"}};
  const bool numbers = *d.task == Task::regress;
  const std::size_t classes = std::min(most_classes, d.classes.size());
  if (numbers) {
    table.columns.push_back({"mean"});
    table.columns.push_back({"sd"});
  }
  for (std::size_t k = 0; k < classes; ++k) table.columns.push_back({name(d.classes[k])});
  for (std::size_t i = 0; i < std::min(most_lines, d.labels.size()); ++i) {
    const DomainLabels& one = d.labels[i];
    std::vector<std::string> line{name(one.domain), fmt::format("{}", one.rows)};
    if (numbers) {
      line.push_back(one.mean ? fmt::format("{:.4g}", *one.mean) : "-");
      line.push_back(one.sd ? fmt::format("{:.4g}", *one.sd) : "-");
    }
    for (std::size_t k = 0; k < classes; ++k)
      line.push_back(one.share.empty() ? "-" : fmt::format("{:.1f}%", 100 * one.share[k]));
    table.lines.push_back(std::move(line));
  }
  return fmt::format("\n{} in each domain\n", display_text(d.label, 60)) + table.text() +
         more(d.labels.size(), most_lines, "domains") + more(d.classes.size(), classes, "classes");
}

std::string missing_table(const Diagnosis& d) {
  if (d.missing.empty()) return "";
  TextTable table;
  table.columns = {{"column", true}, {"least"}, {"in", true}, {"most"}, {"in", true}};
  for (std::size_t i = 0; i < std::min(most_features, d.missing.size()); ++i) {
    const MissingShift& one = d.missing[i];
    const auto [low, high] = std::minmax_element(one.share.begin(), one.share.end());
    const auto domain = [&](auto at) { return name(d.domains[static_cast<std::size_t>(at - one.share.begin())]); };
    table.lines.push_back({display_text(one.column, 32), fmt::format("{:.1f}%", 100 * *low), domain(low),
                           fmt::format("{:.1f}%", 100 * *high), domain(high)});
  }
  return "\nmissing values, largest difference first\n" + table.text() +
         more(d.missing.size(), most_features, "columns");
}

std::string advice(const Diagnosis& d) {
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(most_lines, d.advice.size()); ++i)
    text += display_text(d.advice[i].text, 1000) + "\n";
  return text + more(d.advice.size(), most_lines, "domains");
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text = title(diagnosis);
  if (diagnosis.domains.size() > 2) text += rest_table(diagnosis);
  if (!diagnosis.pairs.empty()) text += pair_table(diagnosis);
  return text + feature_table(diagnosis) + label_table(diagnosis) + missing_table(diagnosis) + advice(diagnosis);
}

}  // namespace ecotone
