#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "cli/new_data.h"
#include "cli/output.h"
#include "cli/row_contributions.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json_number.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

constexpr Index rows_at_once = 8192;

struct PredictFlags {
  NewDataFlags data;
  bool contributions = false;
};

std::vector<std::string> quoted(const std::vector<std::string>& names) {
  std::vector<std::string> fields;
  for (const std::string& name : names) fields.push_back(csv_field(name));
  return fields;
}

void append_values(std::string& text, const auto& values) {
  for (const double value : values) {
    text += ',';
    append_csv_value(text, value);
  }
}

/// The classes of a row's set, joined by |; "none" if there is none.
std::string set_text(const Prediction& prediction, Index row, const std::vector<std::string>& classes) {
  std::string text;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (!prediction.set(row, static_cast<Index>(c))) continue;
    if (!text.empty()) text += '|';
    text += classes[c];
  }
  return text.empty() ? "none" : text;
}

void write_csv_rows(Output& output, const NewData& in, const Prediction& prediction,
                    const std::optional<RowContributions>& contributions, const Context& context) {
  const auto domains = quoted(in.data.domain.names);
  const auto classes = quoted(in.model.classes());
  std::vector<std::string> names;
  if (in.has_domains) names.emplace_back("domain");
  names.emplace_back("prediction");
  for (const std::string& name : in.model.classes()) names.push_back("p_" + name);
  const bool with_deviation = prediction.variance.size() > 0;
  if (with_deviation) names.emplace_back("sd");
  const bool with_sets = prediction.set.size() > 0, with_intervals = prediction.low.size() > 0;
  if (with_sets) names.emplace_back("set");
  if (with_intervals) names.insert(names.end(), {"low", "high"});
  if (contributions)
    for (std::string& head : contributions->heads()) names.push_back(std::move(head));
  output.write(new_data_header(in, names));
  const auto append = [&](Index first, Index last, std::string& text) {
    const Matrix added = contributions ? contributions->rows(first, last, context) : Matrix();
    for (Index row = first; row < last; ++row) {
      append_passed(in, row, text);
      if (in.has_domains) text += domains[at(in.data.domain.index[at(row)])] + ',';
      if (prediction.task == Task::classify) {
        text += classes[at(prediction.index[at(row)])];
      } else {
        append_csv_value(text, prediction.value[row]);
      }
      if (prediction.probability.size() > 0) append_values(text, prediction.probability.row(row));
      if (with_deviation) {
        text += ',';
        append_csv_value(text, std::sqrt(prediction.variance[row]));
      }
      if (with_sets) {
        text += ',';
        append_csv_field(text, set_text(prediction, row, in.model.classes()));
      }
      if (with_intervals) append_values(text, std::array{prediction.low[row], prediction.high[row]});
      if (contributions) append_values(text, added.row(row - first));
      text += '\n';
    }
  };
  write_rows(output, in.data.rows(), contributions ? contributions->rows_at_once(rows_at_once) : rows_at_once, append,
             context);
}

/// All predictions as JSON, in arrays parallel to the rows.
Json rows_json(const NewData& in, const Prediction& prediction) {
  Json json = Json::object();
  if (!in.passed.empty()) json["passed"] = passed_json(in);
  if (in.has_domains) {
    json["domain"] = Json::array();
    for (const std::int32_t d : in.data.domain.index) json["domain"].push_back(in.data.domain.names[at(d)]);
  }
  json["prediction"] = Json::array();
  if (prediction.task == Task::regress) {
    for (const double value : prediction.value) json["prediction"].push_back(value);
    if (prediction.variance.size() > 0) json["sd"] = Json::array();
    for (const double variance : prediction.variance) json["sd"].push_back(std::sqrt(variance));
    if (prediction.low.size() > 0) {
      json["low"] = json_or_words({prediction.low.begin(), prediction.low.end()});
      json["high"] = json_or_words({prediction.high.begin(), prediction.high.end()});
    }
    return json;
  }
  for (const std::int32_t c : prediction.index) json["prediction"].push_back(in.model.classes()[at(c)]);
  json["probability"] = Json::array();
  for (const auto& row : prediction.probability.rowwise())
    json["probability"].push_back(std::vector<double>(row.begin(), row.end()));
  if (prediction.set.size() == 0) return json;
  json["set"] = Json::array();
  for (Index row = 0; row < prediction.set.rows(); ++row) {
    Json set = Json::array();
    for (std::size_t c = 0; c < in.model.classes().size(); ++c)
      if (prediction.set(row, static_cast<Index>(c))) set.push_back(in.model.classes()[c]);
    json["set"].push_back(std::move(set));
  }
  return json;
}

void run_predict(const PredictFlags& all, Session& session) {
  const NewDataFlags& flags = all.data;
  const NewData in = read_new_data(flags, session);
  const Context& context = session.context();
  std::optional<RowContributions> contributions;
  if (all.contributions) contributions.emplace(in, context);
  const Prediction prediction = session.timed("predict", [&] { return in.model.predict(in.batch(), context); });
  session.timed("write", [&] {
    if (flags.to_screen() && session.json()) return;
    Output output(flags.output);
    write_csv_rows(output, in, prediction, contributions, context);
    output.commit();
  });
  Json document = {{"pipeline", in.model.pipeline().text()}, {"task", task_name(prediction.task)}};
  document["rows"] = in.data.rows();
  if (prediction.task == Task::classify) document["classes"] = in.model.classes();
  if (!flags.to_screen()) {
    document["output"] = flags.output;
    session.say(fmt::format("wrote {}: predictions for {}\n", flags.output, counted(in.data.rows(), "row")));
  } else if (session.json()) {
    document.update(rows_json(in, prediction));
    if (contributions) document["contributions"] = contributions->json(context);
  }
  session.print(std::move(document));
}

void declare_predict(Flags& flags, PredictFlags& inputs) {
  add_new_data_flags(flags, inputs.data);
  flags.flag(
      "--contributions", inputs.contributions,
      "Also write what each column adds to the score (the log odds of the second class, the logarithm of each of "
      "several classes' probabilities but for a common number, or the number predicted; the logarithm of it with "
      "loss=poisson, what the normal distribution function is taken of with loss=probit) and its mean, c_base; they "
      "add up to it");
}

}  // namespace

Verb predict_verb() {
  return make_verb({"predict", "Predict new rows with a fitted model", "predict MODEL DATA... [-o FILE] [flags]",
                    "  ecotone predict model.eco new.csv -o out.csv\n"
                    "  ecotone predict model.eco new.csv --id patient | head\n"
                    "  ecotone predict model.eco north.csv south.csv --domain-from-file --json\n"
                    "  ecotone predict trees.eco new.csv --contributions -o out.csv\n"},
                   declare_predict, run_predict);
}

}  // namespace ecotone::cli
