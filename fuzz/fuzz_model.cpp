// Model files of arbitrary bytes: what loads can be shown, saved, loaded again and used for prediction; everything else
// is an Error.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/files/tensor_file.h"
#include "ecotone/base/random.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/registry.h"
#include "methods/each_method.h"

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

/// Overlapping classes in three columns and two domains, then rows of a target.
TrainView small_view(Index classes, Index sources = 36) {
  constexpr Index targets = 12;
  Random random(1, "fuzz_model");
  TrainView view;
  Matrix x(sources + targets, 3);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = random.normal() + (j == i % classes ? 0.5 : 0.0);
    view.domain.index.push_back(i < sources ? static_cast<std::int32_t>(i / classes % 2) : 2);
    if (i < sources) view.y.index.push_back(static_cast<std::int32_t>(i % classes));
  }
  for (Index c = 0; c < classes; ++c) view.y.classes.push_back(std::string(1, static_cast<char>('a' + c)));
  view.x = Features::dense(std::move(x), {"a", "b", "c"});
  view.domain.names = {"s", "r", "t"};
  view.role = {Role::source, Role::source, Role::target};
  return view;
}

/// The rows with numbers in place of two classes.
TrainView with_numbers(TrainView view) {
  Vector value = view.x.to_matrix().col(0).head(view.labelled());
  for (Index i = 0; i < value.size(); ++i) value[i] += view.y.index[at(i)];
  view.y = {Task::regress, {}, {}, std::move(value)};
  return view;
}

/// The rows with codes of categories in their last column, and the columns.
std::pair<TrainView, Schema> with_codes(TrainView view) {
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x(i, 2) = static_cast<double>(i % 5);
  view.x = Features::dense(std::move(x), {"a", "b", "c"});
  Schema schema;
  for (const char* name : {"a", "b"}) schema.columns.push_back({.name = name, .levels = {}});
  schema.columns.push_back(
      {.name = "c", .kind = ColumnKind::categorical, .levels = {"k0", "k1", "k2", "k3", "k4"}, .coded = true});
  return {std::move(view), std::move(schema)};
}

/// Valid models to start from: one of each registered method, and where it learns more classes or numbers, of these.
void write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  const auto write = [&](const std::string& text, const TrainView& view, const Schema& schema = {}) {
    const Model model = Model::fit(Pipeline::parse(text), view, schema, one_thread());
    write_text(folder / ("seed_model_" + std::to_string(number++)), model.bytes());
  };
  const TrainView two = small_view(2), three = small_view(3);
  for (const Method& method : methods()) {
    const std::string text = test::alone(method);
    write(text, test::suited(method, two));
    if (method.combines_classes()) write(text, three);
  }
  write("impute indicator=true | scale | logistic l2=0.1", tiny_view());
  write("impute strategy=median | constant", tiny_view());
  write("scale", tiny_view());
  for (const char* multiclass : {"softmax", "ova", "ovo", "ecoc"})
    write("impute | logistic l2=0.1 multiclass=" + std::string(multiclass), three_classes());
  const auto [coded, columns] = with_codes(two);
  for (const char* trees :
       {"trees rounds=3 leaves=4 min_rows=1", "trees rounds=2 leaves=4 min_rows=1 shape=symmetric", "forest trees=2"})
    write(trees, coded, columns);
  write("logistic l2=0.1 | conformal method=jackknife", two);
  write("ridge lam=0.1 | conformal method=jackknife", with_numbers(two));
  write("logistic l2=0.1 | conformal method=weighted", small_view(2, 120));  // fewer rows cannot be weighted
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
    if (model.pipeline().stages().back().method->has_contributions) (void)model.contributions(batch, one_thread());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
  return 0;
}
