// Model files of arbitrary bytes: what loads can be shown, saved, loaded again and used for prediction; everything else
// is an Error.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/base/tensor_file.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"

namespace {

using namespace ecotone;

const Context& one_thread() {
  static const Context context({.threads = 1});
  return context;
}

/// Five rows of two classes, with a missing value.
TrainView tiny_view() {
  TrainView view;
  Matrix x(5, 2);
  x << 1, 2, 3, std::nan(""), 2, 1, 0, 4, 1, 1;
  view.x = Features::dense(x, {"a", "b"});
  view.y = {Task::classify, {"no", "yes"}, {0, 1, 0, 1, 1}, {}};
  view.domain = {{"d"}, {0, 0, 0, 0, 0}};
  view.role = {Role::source};
  return view;
}

/// The same rows of three classes.
TrainView three_classes() {
  TrainView view = tiny_view();
  view.y = {Task::classify, {"a", "b", "c"}, {0, 1, 2, 1, 0}, {}};
  return view;
}

/// Valid models to start from.
void write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  const auto write = [&](const char* text, const TrainView& view) {
    const Model model = Model::fit(Pipeline::parse(text), view, Schema{}, one_thread());
    write_text(folder / ("seed_model_" + std::to_string(number++)), model.bytes());
  };
  write("impute indicator=true | scale | logistic l2=0.1", tiny_view());
  write("impute strategy=median | constant", tiny_view());
  write("scale", tiny_view());
  for (const char* multiclass : {"softmax", "ova", "ovo", "ecoc"})
    write(("impute | logistic l2=0.1 multiclass=" + std::string(multiclass)).c_str(), three_classes());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  // Seeds go into the corpus: the first folder on the command line.
  for (int i = 1; i < *argc; ++i) {
    if (!std::filesystem::is_directory((*argv)[i])) continue;
    write_seeds((*argv)[i]);
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Model model =
        Model::from_tensors(TensorFile::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz"));
    if (Model::from_tensors(TensorFile::parse(model.bytes(), "again")).bytes() != model.bytes()) std::abort();
    (void)model.inspect();
    const auto cols = static_cast<Index>(model.features().size());
    if (cols > 1000) return 0;
    const Batch batch{Features::dense(Matrix::Constant(2, cols, 0.5), model.features()), std::nullopt};
    (void)model.transform(batch, one_thread());
    (void)model.predict(batch, one_thread());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
  return 0;
}
