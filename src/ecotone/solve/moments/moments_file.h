#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "ecotone/base/files/tensor_file.h"
#include "ecotone/solve/moments/moments.h"

/// Moments in files (`.eco`, safetensors): arrays named as in Moments, `gram` g x k with the tiles of each group one
/// after the other; names of features, groups and classes in the metadata.
namespace ecotone {

/// Name of a kind of Gram matrix in files and in the program: none, double, single.
std::string_view gram_name(GramKind kind);
/// The names that moments of a file have.
struct MomentNames {
  std::vector<std::string> features;
  std::vector<std::string> groups;
  std::vector<std::string> classes = {};
};
/// Adds the arrays of moments under names that begin with `prefix`.
void add_moments(TensorWriter& writer, const std::string& prefix, const Moments& moments);
/// Reads them again; every length and number is checked: `file` error `bad_moments`.
Moments read_moments(const TensorFile& file, const std::string& prefix, MomentNames names, GramKind kind);

/// The bytes of the file; equal moments give equal bytes. Data error `bad_encoding` if a name is not UTF-8.
TensorWriter moments_tensors(const Moments& moments);
/// Whether the file declares that it holds moments.
bool holds_moments(const std::filesystem::path& path);
Moments load_moments(const std::filesystem::path& path);
/// Those of all files, at least one, merged in order. Data error `same_part` where two hold the same.
Moments load_moments(const std::vector<std::filesystem::path>& paths);
/// Every length, name and number is checked: `file` errors `bad_moments`, `newer_format`.
Moments moments_from(const TensorFile& file);

}  // namespace ecotone
