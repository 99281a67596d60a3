#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "ecotone/data/read.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone::cli {

/// Which of the flags about data a verb takes: a protocol says itself which domains are targets, and a model which
/// columns are meant; of new data it may use the labels.
enum class DataUse { training, evaluation, new_data, new_labels };

/// Flags that say how files become a data set, under the heading "Data".
void add_data_flags(Flags& flags, ReadOptions& read, DataUse use);
/// `--strict`, and reading with a look at columns that should perhaps not be features: warnings, or errors with the
/// flag.
void add_strict_flag(Flags& flags, bool& strict);
Dataset read_checked(const std::vector<std::filesystem::path>& files, const ReadOptions& read, bool strict,
                     Session& session);
/// The options for data that these pipelines learn from: columns of text are codes if all begin with a method that
/// takes categories, and a feature per category otherwise.
ReadOptions for_pipelines(ReadOptions read, const std::vector<Pipeline>& pipelines);
ReadOptions for_pipelines(ReadOptions read, const std::vector<PipelineGrid>& grids);
/// For files that are not read as data. Option error `idle_flag` when a flag of add_data_flags was given.
void refuse_data_flags(const Flags& flags, std::string_view why);
/// For parts, which know the seed that they were made with. Option error `idle_flag` when another is given.
void refuse_seed(const Flags& flags);
/// All files that are read: the data and, where there is one, the file of labels.
std::vector<std::filesystem::path> files_read(std::vector<std::filesystem::path> data, const ReadOptions& read);

/// DATA... PIPELINE...: which arguments are files and which pipelines.
struct DataAndPipelines {
  std::vector<std::filesystem::path> data;
  std::vector<Pipeline> pipelines;
};
/// The first argument is data, the last a pipeline; between them, what exists as a file or looks like one is data.
/// Checks that the files are there and that the pipelines are right before anything is read. Option errors: `no_data`,
/// `no_pipeline`; file error: `no_such_file`.
DataAndPipelines data_and_pipelines(const std::vector<std::string>& arguments);
/// The same with pipelines whose options may be lists in braces; each stands for all pipelines of its grid.
DataAndPipelines data_and_grids(const std::vector<std::string>& arguments);
/// The same with a grid for every pipeline argument.
struct DataAndGrids {
  std::vector<std::filesystem::path> data;
  std::vector<PipelineGrid> grids;
};
DataAndGrids data_and_each_grid(const std::vector<std::string>& arguments);
/// The same with the texts of the pipelines, which may hold lists and ranges in braces.
struct DataAndSpaces {
  std::vector<std::filesystem::path> data;
  std::vector<std::string> pipelines;
};
DataAndSpaces data_and_spaces(const std::vector<std::string>& arguments);

/// Whether any of the arguments is a pipeline and not data.
bool has_pipeline(const std::vector<std::string>& arguments);

/// Option error `bad_output` when a file of this name would not be read as the data that are written to it. Devices and
/// pipes may have any name.
void require_data_ending(std::string_view verb, const std::string& path);

/// Option error `bad_output` when the name of a CSV file that `flag` writes promises another format, or that of an HTML
/// report does not promise HTML. Devices, pipes and names without an ending may be anything.
void require_csv_name(std::string_view flag, const std::string& path);
void require_html_name(std::string_view flag, const std::string& path);

/// A file error (`cannot_write`) when the file could not be written; found out before the work, not after it. An
/// empty path always can, `-` where the verb writes to the screen; elsewhere it is an option error (`bad_output`).
void require_writable(const std::string& path, bool screen = false);

/// Option error `same_file` when an output would overwrite an input or another output, by whatever name (links, `./`).
/// Devices, pipes and `-` may be named twice.
void require_separate(const std::vector<std::filesystem::path>& inputs, const std::vector<std::string>& outputs);

/// A file error (`no_such_file`: "no such file: data.csv") unless there is such a file.
void require_files(const std::vector<std::filesystem::path>& paths);

}  // namespace ecotone::cli
