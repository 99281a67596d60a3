#include "ecotone/reproduce/recipe_data.h"

#include <algorithm>

#include "ecotone/data/dataset_digest.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/data/read.h"
#include "ecotone/data/take_rows.h"
#include "ecotone/reproduce/public_data.h"

namespace ecotone {

GeneratedData GeneratedData::read(JsonFields& fields) {
  GeneratedData data{fields.text("generator"), {}};
  if (fields.has("options")) data.options = fields.named_texts("options");
  return data;
}

void GeneratedData::check() const {
  const Generator& found = ecotone::generator(generator);
  complete_options(found.name, found.options, options);
}

Dataset GeneratedData::draw(const Context& context) const { return generate(generator, options, context); }

TableData TableData::read(JsonFields& fields, Task task) {
  TableData table;
  table.file = fields.text("file");
  table.options.label = fields.text("label");
  table.options.domain = fields.text("domain");
  table.options.task = task;
  if (fields.has("ignore")) table.options.ignore = fields.texts("ignore");
  if (fields.has("where")) table.options.where = fields.texts("where");
  if (fields.has("features")) table.features = fields.whole("features", 1, 1'000'000);
  if (fields.has("domains")) table.domains = fields.whole("domains", 1, 1'000'000);
  return table;
}

Dataset TableData::load(const std::filesystem::path& folder, const Context& context) const {
  const std::filesystem::path path = data_file(folder, file);
  Dataset data = read_dataset({path}, options, context);
  const auto require = [&](const char* what, Index expected, Index got) {
    if (expected > 0 && got != expected)
      data_error("other_data", "{}: the experiment is about {} {}, but the file has {}", path.string(), expected, what,
                 got);
  };
  require("features", features, data.x.cols());
  require("domains", domains, data.domain.count());
  for (Index i = 0; data.y && i < data.rows(); ++i)
    if (data.y->missing(i)) data_error("no_label", "{}: row {} has no label", path.string(), i + 1);
  return data;
}

RecipeData RecipeData::read(JsonFields& fields, Task task) {
  RecipeData data;
  if (fields.has("generator"))
    data.drawn = GeneratedData::read(fields);
  else
    data.table = TableData::read(fields, task);
  if (fields.has("rows")) data.rows = fields.whole("rows", 1, 1'000'000);
  return data;
}

void RecipeData::check() const {
  if (drawn) drawn->check();
}

Dataset RecipeData::load(const std::filesystem::path& folder, const Context& context) const {
  Dataset data = drawn ? drawn->draw(context) : table.load(folder, context);
  if (rows == 0) return data;
  std::vector<Index> kept;
  for (Index d = 0; d < data.domain.count(); ++d)
    for (const Index row : spread_over(data.domain.rows_of(d), rows)) kept.push_back(row);
  std::ranges::sort(kept);
  return take_rows(std::move(data), kept);
}

Digest RecipeData::digest(const std::filesystem::path& folder, const Context& context) const {
  return drawn ? Digest{} : digest_of(load(folder, context.observed_by(nullptr)), context);
}

}  // namespace ecotone
