#include "ecotone/reproduce/kinds/path_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/data/dataset_digest.h"
#include "ecotone/data/pairs.h"
#include "ecotone/data/read.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/model.h"
#include "ecotone/reproduce/public_data.h"
#include "ecotone/solve/paths/stopping.h"

namespace ecotone {

namespace {

constexpr Index early_steps = 25;

Images first_of_each_class(const Dataset& data, Index per_class) {
  std::vector<Index> rows, taken(data.y->classes.size(), 0);
  for (Index i = 0; i < data.rows(); ++i)
    if (taken[at(data.y->index[at(i)])]++ < per_class) rows.push_back(i);
  return {data.x.take(rows), data.y->classes, data.y->take(rows).index};
}

Images read_part(const std::string& set, bool test, Index per_class, const std::filesystem::path& folder,
                 const Context& context) {
  ReadOptions options;
  options.task = Task::classify;
  std::string file = test ? "cifar10/test_batch.bin" : "cifar10/data_batch_1.bin";
  if (set == "mnist") {
    const std::string part = test ? "mnist/t10k-" : "mnist/train-";
    file = part + "images-idx3-ubyte";
    options.format = "idx";
    options.labels_file = data_file(folder, part + "labels-idx1-ubyte").string();
  } else {
    options.format = "cifar";
  }
  return first_of_each_class(read_dataset({data_file(folder, file)}, options, context.observed_by(nullptr)), per_class);
}

Dataset as_dataset(const Images& images, std::span<const Index> rows) {
  Dataset data;
  data.x = images.x.take(rows);
  Labels y{Task::classify, images.classes, images.label, {}};
  data.y = y.take(rows);
  drop_unused_classes(*data.y);
  data.domain = {{"all"}, std::vector<std::int32_t>(rows.size(), 0)};
  data.role = {Role::source};
  for (const std::string& name : data.x.names()) data.schema.columns.push_back({.name = name, .levels = {}});
  return data;
}

std::vector<Index> in_order(std::size_t count) {
  std::vector<Index> rows(count);
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

std::vector<Index> all_rows(const Images& images) { return in_order(images.label.size()); }

std::vector<Index> rows_without(const Images& images, Index left_out) {
  std::vector<Index> rows;
  for (Index i = 0; i < std::ssize(images.label); ++i)
    if (images.label[at(i)] != left_out) rows.push_back(i);
  return rows;
}

/// Rows with labels -1 and +1 in domains.
struct DomainRows {
  Features x;
  Vector y;
  Domains domain;

  Moments moments(const Context& context) const {
    return gather_moments({x, domain.index, domain.names, y, Vector(), {}}, GramKind::double_precision, context);
  }
};

PathOptions path_options(PathRule rule, PathCentring centring, Index steps) {
  PathOptions options;
  options.rule = rule;
  options.steps = steps;
  options.centring = {centring == PathCentring::source, centring == PathCentring::source};
  return options;
}

/// Scores of all rows after each step, without the offset, which no order depends on.
Matrix scores_along(const Features& x, const PathResult& path, Index steps, const Context& context) {
  Matrix weights = Matrix::Zero(x.cols(), steps);
  for (Index k = 0; k < steps; ++k) {
    const Vector after = path.weights_after(std::min(k + 1, path.steps()));
    for (Index s = 0; s < after.size(); ++s) weights(path.support[at(s)], k) = after[s];
  }
  Matrix scores(x.rows(), steps);
  context.parallel(x.blocks(),
                   [&](Index b) { x.multiply(b, weights, scores.middleRows(x.first_row(b), x.rows_in(b))); });
  return scores;
}

/// AUROC of each column of the scores among these rows; 0.5 where it is not defined.
std::vector<double> aurocs(const Matrix& scores, const std::vector<Index>& rows, const std::vector<std::uint8_t>& yes,
                           const Context& context) {
  std::vector<double> values(at(scores.cols()));
  context.parallel(scores.cols(), [&](Index k) {
    std::vector<double> column;
    for (const Index i : rows) column.push_back(scores(i, k));
    values[at(k)] = auroc(yes, column).value_or(0.5);
  });
  return values;
}

void add_to(std::vector<double>& sum, const std::vector<double>& values, double factor) {
  sum.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
}

/// What the held-out domain says of the first steps of a path.
void judge_steps(PathCurve& curve, const PathResult& path, const Moments& moments, const GramColumns& columns,
                 Index held_out) {
  const Index count = std::min(early_steps, path.steps());
  Index agree = 0, lower = 0;
  for (Index k = 0; k < count; ++k) {
    const Index i = path.indices[at(k)];
    // E[x_i (y - w.x)] in the held-out domain, w before the step
    double covariance = moments.xy(held_out, i) / moments.weight[held_out];
    const Vector before = path.weights_after(k);
    for (Index s = 0; s < before.size(); ++s)
      if (before[s] != 0) covariance -= before[s] * columns.column(i)(held_out, path.support[at(s)]);
    agree += (covariance > 0) == (path.mu[at(k)] > 0) && covariance != 0;
    lower += path.group_loss_after(held_out, k + 1) < path.group_loss_after(held_out, k);
  }
  curve.agree = static_cast<double>(agree) / static_cast<double>(std::max<Index>(1, count));
  curve.lower = static_cast<double>(lower) / static_cast<double>(std::max<Index>(1, count));
}

/// Features less the mean of all rows.
Images leaking(const Images& images, const Context& context) {
  const Matrix x = images.x.to_matrix();
  const Eigen::RowVectorXd mean = x.colwise().mean();
  Images centred = images;
  centred.x = images.x.map(
      x.cols(), images.x.names(), [mean](ConstMatrixMap block, MatrixView out) { out = block.rowwise() - mean; },
      context);
  return centred;
}

DomainRows against_each(const Images& images, Index positive) {
  DomainRows rows;
  std::vector<Index> taken;
  std::vector<double> y;
  const std::vector<Index> ours = images.rows_of(positive);
  for (Index c = 0; c < std::ssize(images.classes); ++c) {
    if (c == positive) continue;
    rows.domain.names.push_back(images.classes[at(c)]);
    const auto add = [&](const std::vector<Index>& list, double label) {
      for (const Index i : list) {
        taken.push_back(i);
        y.push_back(label);
        rows.domain.index.push_back(static_cast<std::int32_t>(rows.domain.names.size() - 1));
      }
    };
    add(ours, 1);
    add(images.rows_of(c), -1);
  }
  rows.x = images.x.take(taken);
  rows.y = Eigen::Map<const Vector>(y.data(), std::ssize(y));
  return rows;
}

/// Pairs of images as rows of domains.
DomainRows paired(const Images& images, std::span<const Index> rows, Index pairs, const Context& context) {
  const Dataset drawn = draw_pairs(as_dataset(images, rows), {static_cast<int>(pairs)}, context.observed_by(nullptr));
  DomainRows result{drawn.x, Vector(drawn.rows()), drawn.domain};
  const auto same = std::ranges::find(drawn.y->classes, "same") - drawn.y->classes.begin();
  for (Index i = 0; i < drawn.rows(); ++i) result.y[i] = drawn.y->index[at(i)] == same ? 1 : -1;
  return result;
}

/// The rows of one domain and which of them are positive.
std::pair<std::vector<Index>, std::vector<std::uint8_t>> in_domain(const DomainRows& rows, Index domain) {
  std::pair<std::vector<Index>, std::vector<std::uint8_t>> found;
  for (const Index i : rows.domain.rows_of(domain)) {
    found.first.push_back(i);
    found.second.push_back(rows.y[i] > 0);
  }
  return found;
}

}  // namespace

std::vector<Index> Images::rows_of(Index of_class) const {
  std::vector<Index> rows;
  for (Index i = 0; i < std::ssize(label); ++i)
    if (label[at(i)] == of_class) rows.push_back(i);
  return rows;
}

const std::vector<std::string>& image_sets() {
  static const std::vector<std::string> sets{"mnist", "cifar10"};
  return sets;
}

ImageSet read_images(const std::string& set, Index per_class, const std::filesystem::path& folder,
                     const Context& context) {
  ImageSet images{read_part(set, false, per_class, folder, context), read_part(set, true, per_class, folder, context)};
  const Images &train = images.train, &test = images.test;
  if (train.classes != test.classes)
    data_error("different_classes", "{}: the training images are of the classes {}, the test images of {}", set,
               fmt::join(train.classes, ", "), fmt::join(test.classes, ", "));
  if (train.classes.size() < 3)
    data_error("too_few_classes", "{}: at least three classes of images are needed, got {}", set,
               fmt::join(train.classes, ", "));
  if (train.x.cols() != test.x.cols())
    data_error("different_images", "{}: a training image has {} pixels, a test image {}", set, train.x.cols(),
               test.x.cols());
  return images;
}

ImageSet represented(const ImageSet& images, const std::string& stages, const Context& context) {
  const Dataset data = as_dataset(images.train, all_rows(images.train));
  const Model model = Model::fit(Pipeline::parse(stages), train_view(data, context), data.schema, context);
  ImageSet result = images;
  for (Images* part : {&result.train, &result.test}) {
    const Features made = model.transform({part->x, std::nullopt}, context);
    part->x = Features::dense(made.to_matrix(), made.names());
  }
  return result;
}

Digest digest_of(const ImageSet& images, const Context& context) {
  Digest digest;
  for (const Images* part : {&images.train, &images.test})
    digest.add(digest_of(as_dataset(*part, all_rows(*part)), context));
  return digest;
}

std::vector<PathCurve> one_against_each(const ImageSet& images, Index positive, PathRule rule, PathCentring centring,
                                        Index steps, const Context& context) {
  const Images train = centring == PathCentring::leak ? leaking(images.train, context) : images.train;
  const Moments moments = against_each(train, positive).moments(context);
  const std::unique_ptr<GramColumns> columns = columns_of_grams(moments);
  StopOptions stop;
  stop.folds = true;
  const Selection selection =
      select_features(moments, *columns, path_options(rule, centring, steps), stop, context.observed_by(nullptr));
  std::vector<PathCurve> curves;
  for (Index held_out = 0; held_out < moments.group_count(); ++held_out) {
    const PathResult& path = selection.folds[at(held_out)];
    const Matrix scores = scores_along(images.test.x, path, steps, context);
    PathCurve& curve = curves.emplace_back();
    curve.t = path.t;
    judge_steps(curve, path, moments, *columns, held_out);
    const std::vector<Index> ours = images.test.rows_of(positive);
    Index domain = 0;
    for (Index c = 0; c < std::ssize(images.test.classes); ++c) {
      if (c == positive) continue;
      std::vector<Index> rows = ours;
      std::vector<std::uint8_t> yes(ours.size(), 1);
      for (const Index i : images.test.rows_of(c)) rows.push_back(i);
      yes.resize(rows.size(), 0);
      const std::vector<double> values = aurocs(scores, rows, yes, context);
      if (domain == held_out)
        curve.target = values;
      else
        add_to(curve.source, values, 1.0 / static_cast<double>(moments.group_count() - 1));
      ++domain;
    }
  }
  return curves;
}

std::vector<std::vector<PathCurve>> similarity(const ImageSet& images, const std::vector<PathRule>& rules,
                                               PathCentring centring, Index pairs, Index steps,
                                               const Context& context) {
  std::vector<std::vector<PathCurve>> curves(rules.size());
  const DomainRows targets = paired(images.test, all_rows(images.test), pairs, context.derived("target pairs", 0));
  for (Index held_out = 0; held_out < std::ssize(images.train.classes); ++held_out) {
    context.check_cancelled();
    const auto number = static_cast<std::uint64_t>(held_out);
    const DomainRows train =
        paired(images.train, rows_without(images.train, held_out), pairs, context.derived("training pairs", number));
    const DomainRows sources =
        paired(images.test, rows_without(images.test, held_out), pairs, context.derived("source pairs", number));
    const auto name = std::ranges::find(targets.domain.names, images.train.classes[at(held_out)]);
    const auto [rows, yes] = in_domain(targets, name - targets.domain.names.begin());
    const Moments moments = train.moments(context);
    for (std::size_t r = 0; r < rules.size(); ++r) {
      const std::unique_ptr<GramColumns> columns = columns_of_grams(moments);
      const PathResult path =
          select_features(moments, *columns, path_options(rules[r], centring, steps), {}, context.observed_by(nullptr))
              .path;
      PathCurve& curve = curves[r].emplace_back();
      curve.t = path.t;
      curve.agree = curve.lower = std::numeric_limits<double>::quiet_NaN();
      curve.target =
          aurocs(scores_along(targets.x.take(rows), path, steps, context), in_order(rows.size()), yes, context);
      const Matrix scores = scores_along(sources.x, path, steps, context);
      for (Index d = 0; d < sources.domain.count(); ++d) {
        const auto [own, positive] = in_domain(sources, d);
        add_to(curve.source, aurocs(scores, own, positive, context), 1.0 / static_cast<double>(sources.domain.count()));
      }
    }
  }
  return curves;
}

}  // namespace ecotone
