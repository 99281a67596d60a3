// Labelling on MNIST, the digit 2 against the rest, from the folder of the image files.
// Usage: bench_label refit FOLDER KEY=VALUE...    keys: from to step threads: a warm refit beside a cold fit
//        bench_label curves FOLDER KEY=VALUE...   keys: page budget repeat batch threads: labels to reach 95% of full
//                                                 accuracy for every strategy, and a page of the learning curves
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/support/keys.h"
#include "bench/support/main.h"
#include "bench/support/usage.h"
#include "ecotone/base/files/file.h"
#include "ecotone/data/read.h"
#include "ecotone/label/growing_model.h"
#include "ecotone/label/simulate.h"
#include "ecotone/report/html/html.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace {

using namespace ecotone;
using Keys = std::map<std::string, std::string>;

/// The first 10,000 training images, pixels from 0 to 1, with the classes `2` and `other`.
Dataset twos(const std::filesystem::path& folder, const Context& context) {
  ReadOptions options;
  options.labels_file = (folder / "train10k-labels-idx1-ubyte.gz").string();
  Dataset data = read_dataset({folder / "train10k-images-idx3-ubyte.gz"}, options, context);
  const auto two = static_cast<std::int32_t>(std::ranges::find(data.y->classes, "2") - data.y->classes.begin());
  for (std::int32_t& digit : data.y->index) digit = digit == two ? 0 : 1;
  data.y->classes = {"2", "other"};
  data.x = data.x.scaled(Vector::Constant(data.x.cols(), 1.0 / 255), context);
  return data;
}

/// Processor time: that of one thread on an idle computer, and still comparable on a busy one.
double seconds_of(const auto& work) {
  const double begin = usage_now().seconds;
  work();
  return usage_now().seconds - begin;
}

/// Labels grow by `step` random rows; each size is fitted by the growing model and by a new one.
Json refit(const Dataset& data, const Keys& keys, const Context& context) {
  const Pipeline pipeline = Pipeline::parse("logistic l2=0.005");
  const Index from = std::stol(keys.at("from")), to = std::stol(keys.at("to")), step = std::stol(keys.at("step"));
  const std::vector<Index> order = context.random("order").permutation(data.rows());
  GrowingModel growing(data, pipeline);
  const auto labelled = [&](Index count) { return std::span(order).first(at(count)); };
  growing.fit(*data.y, labelled(from), {}, context);
  double warm = 0, cold = 0;
  Index fits = 0;
  for (Index count = from + step; count <= to; count += step, ++fits) {
    warm += seconds_of([&] { growing.fit(*data.y, labelled(count), {}, context); });
    cold += seconds_of([&] { GrowingModel(data, pipeline).fit(*data.y, labelled(count), {}, context); });
  }
  const auto mean = [&](double sum) { return sum / static_cast<double>(fits); };
  return {{"step", step},
          {"fits", fits},
          {"warm_seconds", mean(warm)},
          {"cold_seconds", mean(cold)},
          {"ratio", warm / cold},
          {"threads", context.threads()}};
}

Json curves(const Dataset& data, const Keys& keys, const Context& context) {
  std::vector<Strategy> strategies;
  for (const StrategyInfo& info : strategy_infos())
    strategies.push_back(Strategy::parse(fmt::format("{} batch={}", info.name, keys.at("batch"))));
  const SimulateOptions options{.budget = std::stol(keys.at("budget")), .repeat = std::stol(keys.at("repeat"))};
  const LabelSimulation simulation =
      simulate_labelling(data, Pipeline::parse("logistic l2=0.005"), strategies, options, context);
  if (!keys.at("page").empty())
    write_text(keys.at("page"), html_report(simulation, "Labels for MNIST: 2 against the rest"));
  fmt::print(stderr, "{}", simulation_text(simulation));
  Json json = to_json(simulation);
  json["processor_seconds"] = usage_now().seconds;
  return json;
}

int run(int argc, char** argv) {
  const std::string mode = argv[1];
  if (mode != "refit" && mode != "curves") option_error("bad_option", "unknown mode '{}'", mode);
  Keys keys = mode == "refit"
                  ? Keys{{"from", "200"}, {"to", "600"}, {"step", "1"}, {"threads", "1"}}
                  : Keys{{"page", ""}, {"budget", "300"}, {"repeat", "20"}, {"batch", "5"}, {"threads", "2"}};
  read_keys(argc, argv, 3, keys);
  const Context context(Context::Settings{.threads = std::stoi(keys["threads"]), .seed = 1});
  const Dataset data = twos(argv[2], context);
  fmt::print("{}\n", (mode == "refit" ? refit : curves)(data, keys, context).dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 2, 1000, "refit|curves FOLDER KEY=VALUE...", run); }
