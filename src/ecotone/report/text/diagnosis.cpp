#include <algorithm>
#include <cmath>

#include "ecotone/diagnose/diagnose.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

constexpr Index name_width = 20;
constexpr std::size_t most_classes = 6;
constexpr std::size_t most_named = 4;

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

/// Says what a table leaves out.
std::string more(std::size_t all, std::size_t shown, std::string_view what) {
  if (all <= shown) return "";
  return fmt::format("({} more {}{}; --top {} shows all)\n", all - shown, what, all - shown == 1 ? "" : "s", all);
}

std::string and_list(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
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

std::string pair_name(const Comparison& one) {
  return one.b.empty() ? name(one.a) : fmt::format("{} and {}", name(one.a), name(one.b));
}

/// "farthest: A (MMD² 0.2), nearest: B (MMD² 0.01)"; empty where fewer than two could be compared.
std::string extremes(const std::vector<Comparison>& comparisons, std::string_view word = "") {
  const auto compared = std::ranges::count_if(comparisons, [](const Comparison& one) { return one.mmd2.has_value(); });
  if (compared < 2) return "";
  const Comparison& first = comparisons.front();
  const Comparison& last = comparisons[static_cast<std::size_t>(compared) - 1];
  return fmt::format("farthest{0}: {1} (MMD² {2}), nearest{0}: {3} (MMD² {4})", word, pair_name(first),
                     small(first.mmd2), pair_name(last), small(last.mmd2));
}

/// How many domains differ from the others.
std::string differing(const Diagnosis& d) {
  const auto differs = [](const Comparison& one) { return one.q && *one.q <= shift_level; };
  const auto count = std::ranges::count_if(d.against_rest, differs);
  if (d.against_rest.size() > 1)
    return fmt::format("{} of {} domains differ from the others beyond chance", count, d.against_rest.size());
  return fmt::format("{} {} from the others beyond chance", name(d.against_rest.front().a),
                     count == 1 ? "differs" : "does not differ");
}

/// What the tables say, in a few sentences.
std::string summary(const Diagnosis& d) {
  std::string text;
  if (d.domains.size() > 2) {
    text = differing(d) + "\n";
    for (const std::string& line : {extremes(d.against_rest), extremes(d.pairs, " pair")})
      if (!line.empty()) text += wrapped(line, page_width, "");
  }
  const auto shifts = [](const FeatureShift& one) { return one.q <= shift_level; };
  const auto shifted = std::ranges::count_if(d.feature_shift, shifts);
  std::vector<std::string> names;
  for (const FeatureShift& one : d.feature_shift)
    if (shifts(one) && names.size() < most_named) names.push_back(name(one.feature));
  if (names.empty()) return text + "no single feature shifts beyond chance\n";
  return text + wrapped(fmt::format("{} of {} features shift beyond chance, most of all {}", shifted,
                                    d.feature_shift.size(), and_list(names)),
                        page_width, "");
}

std::string title(const Diagnosis& d) {
  std::string text =
      fmt::format("how {}: {} rows, {} feature{}\n", what_differs(d), d.rows, d.features, d.features == 1 ? "" : "s");
  if (!d.pipeline.empty()) text += fmt::format("on the features of {}\n", display_text(d.pipeline, 80));
  text += summary(d) + "\n";
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

std::string rest_table(const Diagnosis& d, std::size_t top) {
  TextTable table;
  table.columns = {{name(d.domain_word), true}, {"rows"}, {"MMD²"}, {"p"}, {"AUROC"}, {"A-dist"}, {"ESS"},
                   {"mostly in", true}};
  for (std::size_t i = 0; i < std::min(top, d.against_rest.size()); ++i) {
    const Comparison& one = d.against_rest[i];
    table.lines.push_back({name(one.a), fmt::format("{}", one.rows_a), small(one.mmd2), probability(one.p),
                           decimals(one.auroc, 3), decimals(one.a_distance, 2), kept(one, one.ess_b_to_a),
                           main_features(one, 28)});
  }
  return "\neach against all others, farthest first\nESS: effective share of the others left after weighting them "
         "towards it\n" +
         apart_note(d.against_rest) + table.text() + more(d.against_rest.size(), top, "domain");
}

std::string pair_table(const Diagnosis& d, std::size_t top) {
  TextTable table;
  table.columns = {{"a", true}, {"b", true}, {"MMD²"},           {"p"}, {"AUROC"}, {"A-dist"},
                   {"a to b"},  {"b to a"},  {"mostly in", true}};
  for (std::size_t i = 0; i < std::min(top, d.pairs.size()); ++i) {
    const Comparison& one = d.pairs[i];
    table.lines.push_back({short_name(one.a), short_name(one.b), small(one.mmd2), probability(one.p),
                           decimals(one.auroc, 3), decimals(one.a_distance, 2), kept(one, one.ess_a_to_b),
                           kept(one, one.ess_b_to_a), main_features(one, 20)});
  }
  return "\npair by pair, farthest first\na to b: effective share of a's rows left after weighting them towards b\n" +
         apart_note(d.pairs) + table.text() + more(d.pairs.size(), top, "pair");
}

std::string feature_table(const Diagnosis& d, std::size_t top) {
  TextTable table;
  table.columns = {{"feature", true}, {"most in", true}, {"SMD"}, {"KS"}, {"q"}};
  for (std::size_t i = 0; i < std::min(top, d.feature_shift.size()); ++i) {
    const FeatureShift& one = d.feature_shift[i];
    table.lines.push_back({display_text(one.feature, 32), name(one.domain),
                           one.smd ? fmt::format("{:+.2f}", *one.smd == 0 ? 0.0 : *one.smd) : "-", decimals(one.ks, 3),
                           probability(one.q)});
  }
  return "\nshift of single features, one domain against all others, largest first\n" + table.text() +
         more(d.feature_shift.size(), top, "feature");
}

/// The labels of the domains in the order of the comparisons, then those of domains that were not compared.
std::vector<DomainLabels> by_distance(const Diagnosis& d) {
  std::vector<DomainLabels> labels = d.labels;
  const auto place = [&](const DomainLabels& one) {
    return std::ranges::find(d.against_rest, one.domain, &Comparison::a) - d.against_rest.begin();
  };
  std::ranges::stable_sort(labels, {}, place);
  return labels;
}

std::string label_table(const Diagnosis& d, std::size_t top) {
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
  for (const DomainLabels& one : by_distance(d)) {
    if (table.lines.size() == top) break;
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
         more(d.labels.size(), top, "domain") +
         (d.classes.size() > classes ? fmt::format("({} more classes; --json lists them)\n", d.classes.size() - classes)
                                     : "");
}

std::string missing_table(const Diagnosis& d, std::size_t top) {
  if (d.missing.empty()) return "";
  TextTable table;
  table.columns = {{"column", true}, {"least"}, {"in", true}, {"most"}, {"in", true}};
  for (std::size_t i = 0; i < std::min(top, d.missing.size()); ++i) {
    const MissingShift& one = d.missing[i];
    const auto [low, high] = std::minmax_element(one.share.begin(), one.share.end());
    const auto domain = [&](auto at) { return name(d.domains[static_cast<std::size_t>(at - one.share.begin())]); };
    table.lines.push_back({display_text(one.column, 32), fmt::format("{:.1f}%", 100 * *low), domain(low),
                           fmt::format("{:.1f}%", 100 * *high), domain(high)});
  }
  return "\nmissing values, largest difference first\n" + table.text() + more(d.missing.size(), top, "column");
}

std::string advice(const Diagnosis& d, std::size_t top) {
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(top, d.advice.size()); ++i) text += display_text(d.advice[i].text, 1000) + "\n";
  text += more(d.advice.size(), top, "domain");
  if (d.task)
    text += wrapped(
        "To see why a model does worse in one of them, other rows or another relation of labels to "
        "features: ecotone explain DATA PIPELINE --target NAME",
        page_width, "");
  return text;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, std::size_t top) {
  std::string text = title(diagnosis);
  if (diagnosis.domains.size() > 2) text += rest_table(diagnosis, top);
  if (!diagnosis.pairs.empty()) text += pair_table(diagnosis, top);
  return text + feature_table(diagnosis, top) + label_table(diagnosis, top) + missing_table(diagnosis, top) +
         advice(diagnosis, top);
}

}  // namespace ecotone
