#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/base/digest.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/read_options.h"
#include "ecotone/reproduce/json_fields.h"

/// The data of recipes, whatever their kind.
namespace ecotone {

/// Data that are drawn: the fields `generator` and `options`.
struct GeneratedData {
  std::string generator;
  OptionTexts options;

  static GeneratedData read(JsonFields& fields);
  /// Option errors of a generator or an option that does not exist.
  void check() const;
  Dataset draw(const Context& context) const;
};

/// A table below the folder of the data: the fields `file`, `label`, `domain` and, if needed, `ignore`, `where`, and
/// `features` and `domains`, how many of them the data must have.
struct TableData {
  std::string file;
  ReadOptions options;
  int features = 0, domains = 0;  ///< 0: any number

  static TableData read(JsonFields& fields, Task task);
  /// The errors of data_file and of reading; data errors `other_data` if the table is not the one that is meant, and
  /// `no_label` if a row has none.
  Dataset load(const std::filesystem::path& folder, const Context& context) const;
};

/// Data of either kind, and the field `rows`: at most so many of each domain, at equal distances.
struct RecipeData {
  std::optional<GeneratedData> drawn;  ///< or else
  TableData table;
  Index rows = 0;  ///< 0: all

  /// Drawn where there is a `generator`.
  static RecipeData read(JsonFields& fields, Task task);
  void check() const;
  Dataset load(const std::filesystem::path& folder, const Context& context) const;
  /// What the data are in a journal; empty for those that are drawn.
  Digest digest(const std::filesystem::path& folder, const Context& context) const;
};

}  // namespace ecotone
