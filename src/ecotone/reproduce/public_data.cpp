#include "ecotone/reproduce/public_data.h"

#include <string>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// Where the data sets of experiments are published, by the folder that they lie in.
struct PublicSet {
  std::string_view folder;
  std::string_view published;
};
constexpr PublicSet public_sets[] = {
    {"mnist",
     "MNIST by LeCun, Cortes and Burges, as IDX files, gzipped or not: train-images-idx3-ubyte, "
     "train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte"},
    {"cifar10",
     "CIFAR-10 by Krizhevsky, Nair and Hinton, the binary version, gzipped or not: data_batch_1.bin and "
     "test_batch.bin"},
    {"parkinsons",
     "Parkinsons Telemonitoring in the UCI Machine Learning Repository, as CSV with subject# renamed to domain"},
    {"gvhd",
     "the GvHD samples of the FlowCAP-I challenge, 1,000 random cells of each as one CSV, gzipped or not, with the "
     "columns domain, FSC, SSC, CD4, CD8b, CD3, CD8, manual, label, triple"},
    {"iris",
     "Iris by Fisher in the UCI Machine Learning Repository, as CSV with the columns domain, sepal_length, "
     "sepal_width, petal_length, petal_width, label"},
    {"heart_disease",
     "Heart Disease in the UCI Machine Learning Repository, the four processed files as one CSV with the columns "
     "domain, age, ..., num, label"},
};

std::string published_text(std::string_view name) {
  const std::string_view folder = name.substr(0, name.find('/'));
  for (const PublicSet& set : public_sets)
    if (set.folder == folder) return fmt::format("; it is part of {}", set.published);
  return "";
}

/// Smaller parts of a set that serve as well, by the begin of the full set's file names.
struct Part {
  std::string_view full, part;
};
constexpr Part parts_of_sets[] = {{"mnist/train-", "mnist/train10k-"},
                                  {"cifar10/data_batch_1", "cifar10/train5k"},
                                  {"cifar10/test_batch", "cifar10/test2k"}};

}  // namespace

std::filesystem::path data_file(const std::filesystem::path& folder, std::string_view name) {
  if (folder.empty())
    option_error("no_data", "reproduce: {} is needed{}; name the folder that holds {}/ with --data or ECOTONE_DATA",
                 name, published_text(name), name.substr(0, name.find('/')));
  constexpr std::string_view packed = ".gz";
  std::vector<std::string> names{std::string(name)};
  if (name.ends_with(packed)) names.emplace_back(name.substr(0, name.size() - packed.size()));
  for (const Part& each : parts_of_sets)
    if (name.starts_with(each.full))
      names.push_back(std::string(each.part) + std::string(name.substr(each.full.size())));
  for (const std::string& one : names)
    for (const char* end : {"", ".gz"})
      if (std::filesystem::exists(folder / (one + end))) return folder / (one + end);
  file_error("missing_data", "reproduce: there is no {} in {}{}", name, folder.string(), published_text(name));
}

}  // namespace ecotone
