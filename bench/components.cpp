// Times invariant components and one Gram matrix of the same rows; bench/components.py runs it next to its rivals.
// Usage: bench_components FOLDER KEY=VALUE...   FOLDER: shape.json, x.bin, class.bin (int32), domain.bin (int32)
// Keys: method (gram, kpca, udica, coir, dica), form (paper, symmetric), lam, weight, sigma, components, threads,
// repeats. Prints one JSON object: seconds (the smallest of the repeats) and gamma; writes the training projections to
// z.bin.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bench/support/main.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/components/exact.h"

namespace {

using namespace ecotone;

template <class T>
void read_into(const std::filesystem::path& path, T* out, Index count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(out),
            static_cast<std::streamsize>(count) * static_cast<std::streamsize>(sizeof(T)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
}

struct Data {
  Matrix x;
  std::vector<std::int32_t> cls, domain;
  Index classes = 0, domains = 0;
};

Data read_data(const std::filesystem::path& folder) {
  std::ifstream file(folder / "shape.json");
  const Json shape = Json::parse(file);
  const auto rows = shape.at("rows").get<Index>();
  Data data{Matrix(rows, shape.at("cols").get<Index>()), std::vector<std::int32_t>(static_cast<std::size_t>(rows)),
            std::vector<std::int32_t>(static_cast<std::size_t>(rows)), shape.at("classes"), shape.at("domains")};
  read_into(folder / "x.bin", data.x.data(), data.x.size());
  read_into(folder / "class.bin", data.cls.data(), rows);
  read_into(folder / "domain.bin", data.domain.data(), rows);
  return data;
}

class Keys {
 public:
  Keys(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
      const std::string word = argv[i];
      const auto equals = word.find('=');
      if (equals == std::string::npos) option_error("bad_option", "bench: '{}' is not KEY=VALUE", word);
      values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  std::string text(const std::string& key, const std::string& otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : found->second;
  }
  double number(const std::string& key, double otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : std::stod(found->second);
  }

 private:
  std::map<std::string, std::string> values_;
};

ExactComponents solve(const Data& data, const Keys& keys, const Context& context) {
  const std::string method = keys.text("method", "dica");
  const bool invariant = method == "udica" || method == "dica";
  const ComponentOptions options{
      .supervised = method == "coir" || method == "dica",
      .weight = invariant ? keys.number("weight", 1) : 0,
      .lam = keys.number("lam", 0.1),
      .form = keys.text("form", "symmetric") == "paper" ? ComponentForm::paper : ComponentForm::symmetric,
      .scaling = ComponentScaling::variance,
      .components = static_cast<Index>(keys.number("components", 2))};
  const OutputFactor output = delta_output(data.cls, data.classes);
  const ComponentProblem problem{
      .x = {data.x.data(), data.x.rows(), data.x.cols(), Eigen::OuterStride<>(data.x.cols())},
      .kernel = {.kind = KernelKind::rbf, .sigma = keys.number("sigma", 1)},
      .group = data.domain,
      .groups = data.domains,
      .output = &output};
  const ExactRoute route = route_applies(options, ExactRoute::matvec) ? ExactRoute::matvec : ExactRoute::cholesky;
  return exact_components(problem, options, route, context);
}

int run(int argc, char** argv) {
  const Keys keys(argc, argv);
  const std::filesystem::path folder = argv[1];
  const Data data = read_data(folder);
  const Context context({.threads = static_cast<int>(keys.number("threads", 2))});
  double best = 1e9;
  ExactComponents found;
  for (int i = 0; i < static_cast<int>(keys.number("repeats", 1)); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (keys.text("method", "dica") == "gram") {
      kernel_gram({.kind = KernelKind::rbf, .sigma = keys.number("sigma", 1)}, data.x, context);
    } else {
      found = solve(data, keys, context);
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ofstream out(folder / "z.bin", std::ios::binary);
  out.write(reinterpret_cast<const char*>(found.projections.data()),
            static_cast<std::streamsize>(found.projections.size()) * static_cast<std::streamsize>(sizeof(double)));
  const Vector& gamma = found.spectrum.gamma;
  fmt::print("{}\n", Json{{"seconds", best},
                          {"converged", found.converged},
                          {"gamma", std::vector<double>(gamma.data(), gamma.data() + gamma.size())}}
                         .dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 1, 1000, "FOLDER KEY=VALUE...", run); }
