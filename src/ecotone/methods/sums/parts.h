#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/files/tensor_file.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/sums/row_sums.h"

/// Pipelines learned where the rows may not leave their sites: each site makes a part, sums over its rows; parts are
/// collected in files and added at the end, always in the order of their contents, so that the model does not depend on
/// the order or the grouping in which they came.
namespace ecotone {

/// The sums of one site, with what they are sums of.
struct SumsPart {
  std::string pipeline;    ///< canonical text
  std::uint64_t seed = 0;  ///< of the features that were drawn for the rows
  std::string behind;      ///< hash of the model that the rows went through first; empty: none
  Schema schema;           ///< of the rows, or of that model
  RowSums sums;
  /// Where the rows come from, if that tells two parts apart whose rows are equal; empty: the content says it.
  std::string source = {};
  /// How many rows of a domain have the rarest value of a column, or of a label, of two values there; all rows where
  /// there is no such column; 0: unknown, in files of older programs.
  Index rarest = 0;

  /// A hash of all of it, as 32 hexadecimal digits.
  std::string id() const;
};

struct PartOptions {
  int min_rows = 10;  ///< of a domain, and of a class or category there; see small_groups.h

  static constexpr auto fields() {
    return std::tuple{field("min_rows", &PartOptions::min_rows,
                            "Refuse domains, and classes or categories of a domain, with fewer rows: sums of few rows "
                            "come close to the rows themselves",
                            at_least(1))};
  }

  std::string source = {};  ///< of the part; no option, because it would let the same rows count twice
};

/// The part of the data that a pipeline is learned from. Option errors `needs_rows`, `weighted_sums` (row weights),
/// `behind_predicts`, `idle_flag` (groups); data errors `small_domain`, `small_category`, `no_labels`,
/// `non_finite`, `sparse_sums`, `needs_two_classes`, `needs_numbers`. Warnings `few_rows`, `lost_digits`.
SumsPart make_part(const Pipeline& pipeline, const Dataset& data, const Model* behind, const PartOptions& options,
                   const Context& context);

/// The hash by which a part names the model that its rows went through.
std::string model_id(const Model& model);

/// Whether the file declares that it holds parts.
bool holds_parts(const std::filesystem::path& path);
/// The parts of all files, in the order of their hashes. Every length, name and number is checked: `file` errors
/// `bad_sums`, `newer_format`; data errors `same_part`, `different_sums`.
std::vector<SumsPart> load_parts(const std::vector<std::filesystem::path>& paths);
std::vector<SumsPart> parts_from(const TensorFile& file);
/// The same of a file whose names need not be the hashes of its content, for fuzzing.
std::vector<SumsPart> parts_as_named(const TensorFile& file);
/// Sorts parts by their hashes and checks that they can be added. Data errors `no_parts`, `same_part`,
/// `different_sums`.
std::vector<SumsPart> in_order(std::vector<SumsPart> parts);
/// The bytes of a file of parts that are in order; equal parts give equal bytes.
TensorWriter parts_tensors(const std::vector<SumsPart>& parts);

/// All parts added, and the schema of all their columns. A column of text has the levels of all parts. Where labels are
/// classes in some parts and numbers in others, or not there, which only pipelines that do not look at them allow, the
/// sums have none. Warning `alike_parts`.
struct AddedParts {
  RowSums sums;
  Schema schema;
};
AddedParts added(const std::vector<SumsPart>& parts, const Context& context);
/// The model of parts that are in order. Data error `other_model` unless `behind` is the model that their rows went
/// through.
Model finish_parts(const std::vector<SumsPart>& parts, const Model* behind, const Context& context);

}  // namespace ecotone
