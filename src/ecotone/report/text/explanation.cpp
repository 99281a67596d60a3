#include <fmt/format.h>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/trust/explain.h"

namespace ecotone {
namespace {

std::string_view loss_words(RowLoss loss) {
  switch (loss) {
    case RowLoss::log_loss:
      return "log loss";
    case RowLoss::brier:
      return "Brier score";
    case RowLoss::squared:
      return "squared error";
    default:
      return "error";
  }
}

std::string parts_table(const LossShift& shift) {
  const auto line = [](std::string what, double value, double error) {
    return std::vector<std::string>{std::move(what), fmt::format("{:+.4f}", value), fmt::format("{:.4f}", error)};
  };
  TextTable table;
  table.columns = {{"part", true}, {"loss"}, {"standard error"}};
  table.lines = {
      line("other rows: from the sources to rows that both have", shift.x_source_to_shared(),
           shift.x_source_to_shared_error),
      line("another relation of labels to features, among these", shift.y_given_x(), shift.y_given_x_error),
      line("other rows: from these to the target's", shift.x_shared_to_target(), shift.x_shared_to_target_error)};
  return table.text();
}

std::string regions_table(const Explanation& explanation, std::size_t top) {
  if (explanation.regions.empty()) return "";
  TextTable table;
  table.columns = {{"among rows that both have", true}, {"share"}, {"sources"}, {"target"}, {"difference"}, {"se"}};
  for (std::size_t i = 0; i < std::min(top, explanation.regions.size()); ++i) {
    const DisagreeingRegion& region = explanation.regions[i];
    table.lines.push_back({display_text(region.words, 44), fmt::format("{:.2f}", region.share),
                           fmt::format("{:.4f}", region.source), fmt::format("{:.4f}", region.target),
                           fmt::format("{:+.4f}", region.difference), fmt::format("{:.4f}", region.error)});
  }
  return "\n" + table.text();
}

std::string columns_line(const Explanation& explanation) {
  std::vector<std::string> names;
  for (const DisagreeingColumn& column : explanation.columns)
    if (column.p_value < 0.05 && names.size() < 6)
      names.push_back(fmt::format("{} (p {:.2g})", display_text(column.column, longest_domain), column.p_value));
  if (names.empty()) return "";
  return wrapped(fmt::format("The difference varies with {}.", fmt::join(names, ", ")), page_width, "");
}

std::string explanation_text(const Explanation& explanation, std::size_t top) {
  const bool less = explanation.shift && explanation.shift->total() < 0;
  std::string text = fmt::format("why '{}' costs {}: {} of {}\n", display_text(explanation.target, longest_domain),
                                 less ? "less" : "more", loss_words(explanation.loss), explanation.pipeline);
  text += fmt::format("{} of {}, predicted by models that had not seen them; {} of the target{}\n\n",
                      counted(explanation.source_rows, "row"), counted(explanation.domains, "source domain"),
                      counted(explanation.target_rows, "row"),
                      explanation.auroc ? fmt::format("; told apart with AUROC {:.3f}", *explanation.auroc) : "");
  if (explanation.shift)
    text += fmt::format("sources {:.4f}, target {:.4f}, difference {:+.4f} (standard error {:.4f})\n\n",
                        explanation.shift->source, explanation.shift->target, explanation.shift->total(),
                        explanation.shift->total_error);
  if (!explanation.error.empty()) {
    text += wrapped("Refused: " + explanation.error + ".", page_width, "");
  } else {
    text += parts_table(*explanation.shift) + regions_table(explanation, top) + "\n" + columns_line(explanation);
  }
  return text + wrapped(explanation.advice(), page_width, "");
}

}  // namespace

std::string explanations_text(const std::vector<Explanation>& explanations, std::size_t top) {
  std::string text;
  for (const Explanation& each : explanations) text += (text.empty() ? "" : "\n") + explanation_text(each, top);
  return text;
}

}  // namespace ecotone
