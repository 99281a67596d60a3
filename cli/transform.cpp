#include <fmt/format.h>

#include "cli/new_data.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/read.h"
#include "ecotone/report/text/line.h"

namespace ecotone::cli {
namespace {

std::string header(const NewData& in, const Features& z) {
  std::vector<std::string> names;
  if (in.has_domains) names.emplace_back("domain");
  if (in.data.y) names.push_back(in.data.schema.label);
  for (std::string& name : z.names()) names.push_back(std::move(name));
  return new_data_header(in, names);
}

void write_csv_rows(Output& output, const NewData& in, const Features& z, const Context& context) {
  output.write(header(in, z));
  const auto append = [&](Index first, Index last, std::string& text) {
    Scratch scratch;
    const RowBlock block = z.block(first / z.block_rows(), scratch);
    for (Index row = first; row < last; ++row) {
      append_passed(in, row, text);
      if (in.has_domains) {
        append_csv_field(text, in.data.domain.names[at(in.data.domain.index[at(row)])]);
        if (in.data.y || z.cols() > 0) text += ',';
      }
      if (in.data.y) {
        append_csv_label(text, *in.data.y, row);
        if (z.cols() > 0) text += ',';
      }
      for (Index c = 0; c < z.cols(); ++c) {
        if (c > 0) text += ',';
        append_csv_value(text, block.x(row - first, c));
      }
      text += '\n';
    }
  };
  write_rows(output, z.rows(), z.block_rows(), append, context);
}

/// The rows with the new features instead of the old ones.
Dataset as_dataset(const NewData& in, const Features& z) {
  Dataset data = in.data;
  data.x = z;
  // Scaled categories and dates are numbers.
  data.schema.columns.clear();
  for (const std::string& name : z.names()) data.schema.columns.push_back({name, ColumnKind::numeric, {}});
  return data;
}

Json label_json(const Labels& y, Index row) {
  if (y.missing(row)) return nullptr;
  if (y.task == Task::classify) return y.classes[at(y.index[at(row)])];
  return y.value[row];
}

Json rows_json(const NewData& in, const Features& z) {
  Json json = Json::object();
  if (!in.passed.empty()) json["passed"] = passed_json(in);
  if (in.has_domains) {
    json["domain"] = Json::array();
    for (const std::int32_t d : in.data.domain.index) json["domain"].push_back(in.data.domain.names[at(d)]);
  }
  if (in.data.y) {
    json["label"] = Json::array();
    for (Index row = 0; row < z.rows(); ++row) json["label"].push_back(label_json(*in.data.y, row));
  }
  json["z"] = Json::array();
  Scratch scratch;
  for (Index b = 0; b < z.blocks(); ++b) {
    const RowBlock block = z.block(b, scratch);
    for (const auto& row : block.x.rowwise()) json["z"].push_back(std::vector<double>(row.begin(), row.end()));
  }
  return json;
}

void run_transform(const NewDataFlags& flags, Session& session) {
  if (flags.output.ends_with(".eco") && (!flags.read.id.empty() || !flags.read.keep.empty()))
    option_error("no_text_columns", "transform: --id and --keep need a CSV file as output, not {}", flags.output);
  const NewData in = read_new_data(flags, session);
  const Context& context = session.context();
  const Features z = session.timed("transform", [&] { return in.model.transform(in.batch(), context); });
  session.timed("write", [&] {
    if (flags.to_screen() && session.json()) return;
    if (flags.output.ends_with(".eco")) return write_eco(as_dataset(in, z), flags.output, context);
    Output output(flags.output);
    write_csv_rows(output, in, z, context);
    output.commit();
  });
  Json document = {{"pipeline", in.model.pipeline().text()}, {"rows", z.rows()}, {"columns", z.cols()}};
  document["names"] = z.names();
  if (!flags.to_screen()) {
    document["output"] = flags.output;
    session.say(fmt::format("wrote {}: {}, {}\n", flags.output, counted(z.rows(), "row"), counted(z.cols(), "column")));
  } else if (session.json()) {
    document.update(rows_json(in, z));
  }
  session.print(std::move(document));
}

void declare_transform(Flags& flags, NewDataFlags& inputs) {
  inputs.writes_eco = true;
  add_new_data_flags(flags, inputs);
}

}  // namespace

Verb transform_verb() {
  return make_verb({"transform", "Write the features that the model's learner would see",
                    "transform MODEL DATA... [-o FILE] [flags]",
                    "  ecotone transform model.eco new.csv -o z.csv\n"
                    "  ecotone transform dbn.eco images.eco -o features.eco\n"
                    "  ecotone transform prepare.eco new.csv --where 'age>=18' | head\n"},
                   declare_transform, run_transform);
}

}  // namespace ecotone::cli
