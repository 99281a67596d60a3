#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/byte_source.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

struct ArrayRows;

/// The files of one data set.
struct InputFiles {
  std::vector<std::filesystem::path> paths;
  std::vector<ByteSource> sources;  ///< the same files, opened; a mapped format does without
};

/// A data format. The one list of them is formats.def. How it reads is either `rows`, or `read` and `read_for_model`.
struct Format {
  std::string name;                  ///< as in --format
  std::string summary;               ///< one sentence
  std::vector<std::string> endings;  ///< of file names, in lower case; unless mapped, .gz may follow
  /// Whether a file that begins with these bytes (at most 4,096) is of this format; null: that cannot be told.
  bool (*looks_like)(std::string_view start) = nullptr;
  /// Of a format without column names: its rows, with labels where it has some. Roles of columns, filters, labels of a
  /// file of their own and the match with a model's columns (by position) follow from them, see arrays.h.
  ArrayRows (*rows)(const std::vector<ByteSource>& sources, const ReadOptions& options,
                    const Context& context) = nullptr;
  /// Of a format with column names: the data set, see read_dataset.
  Dataset (*read)(InputFiles files, const ReadOptions& options, const Context& context) = nullptr;
  /// The data set by a model's schema, see read_for_model.
  Dataset (*read_for_model)(InputFiles files, const Schema& schema, const ReadOptions& options,
                            std::vector<TextColumn>& passed, const Context& context) = nullptr;
  bool passes_text = false;  ///< whether read_for_model fills in `passed`
  bool mapped = false;       ///< one file, mapped by its path and never gunzipped
};

/// All formats, in the order of formats.def.
const std::vector<Format>& formats();
/// Their names.
std::vector<std::string> format_names();

/// By name; an option error (`bad_format`: "--format must be one of csv, ..., got 'cvs'; did you mean 'csv'?")
/// otherwise.
const Format& format_by_name(std::string_view name);
/// By the ending of the file's name in any case, with or without .gz; null when no format has it.
const Format* format_by_ending(const std::filesystem::path& path);
/// A text as one word of a shell, in single quotes.
std::string shell_word(std::string_view text);
/// Whether a source is standard input.
bool is_standard_input(const ByteSource& source);
/// File error `foreign_format` for a Parquet file, an Excel workbook and the like, with the one-line way to a CSV file.
void refuse_foreign(const ByteSource& source);
/// By the first bytes; text that no format claims is CSV.
const Format& format_by_content(const ByteSource& source);

/// The data set in files of a format.
Dataset read_files(const Format& format, InputFiles files, const ReadOptions& options, const Context& context);
/// The same by a model's schema.
Dataset read_files_for_model(const Format& format, InputFiles files, const Schema& schema, const ReadOptions& options,
                             std::vector<TextColumn>& passed, const Context& context);

}  // namespace ecotone
