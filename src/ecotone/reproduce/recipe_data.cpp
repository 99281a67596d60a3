#include "ecotone/reproduce/recipe_data.h"

#include "ecotone/data/generate/generate.h"
#include "ecotone/data/read.h"
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
  TableData table{fields.text("file"), {}};
  table.options.label = fields.text("label");
  table.options.domain = fields.text("domain");
  table.options.task = task;
  if (fields.has("ignore")) table.options.ignore = fields.texts("ignore");
  if (fields.has("where")) table.options.where = fields.texts("where");
  return table;
}

Dataset TableData::load(const std::filesystem::path& folder, const Context& context) const {
  return read_dataset({data_file(folder, file)}, options, context);
}

}  // namespace ecotone
