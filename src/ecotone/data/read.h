#pragma once

#include <filesystem>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// Reads one data set from one or more files of one format (same columns, matched by name). The format comes from
/// the options, otherwise from the ending of the file names, otherwise from the content; see format.h.
Dataset read_dataset(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     const Context& context);

/// Reads new data for a model: columns are matched to the schema by name; a missing column is the data error
/// `missing_column`; text in place of a number is `bad_value`, with line and column; categories unknown to the model
/// become all zeros (a code: missing) and are counted in the warning `unseen_category`; additional columns are ignored.
/// Label, domain and weight columns may be absent; groups and times are not read. A file without names (svmlight, NPY,
/// IDX) is matched by position and must have as many columns (svmlight: not more).
Dataset read_for_model(const std::vector<std::filesystem::path>& paths, const Schema& schema,
                       const ReadOptions& options, const Context& context);
/// The same, with the columns `id` and `keep` of the options put into `passed` as text; option error `no_text_columns`
/// if the format has none.
Dataset read_for_model(const std::vector<std::filesystem::path>& paths, const Schema& schema,
                       const ReadOptions& options, std::vector<TextColumn>& passed, const Context& context);

/// The same for the text of a CSV file that is in memory, header first, such as rows that a service was sent; messages
/// call it `name`.
Dataset parse_for_model(std::string csv, std::string name, const Schema& schema, const ReadOptions& options,
                        const Context& context);

/// Writes a data set as `.eco` (safetensors): x (dense f64, or CSR arrays), label, domain, weight, group, time; schema
/// and names in the metadata.
void write_eco(const Dataset& data, const std::filesystem::path& path, const Context& context);

/// Writes a data set as CSV: group (its number), time, domain, features, weight, label; numbers in shortest round-trip
/// form.
void write_csv(const Dataset& data, const std::filesystem::path& path, const Context& context);

}  // namespace ecotone
