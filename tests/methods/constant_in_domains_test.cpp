// Columns of one value in every domain (a device, a site): stages that align domains leave nothing of them to learn.
#include "ecotone/methods/sums/parts.h"
#include "methods/support.h"

namespace ecotone::test {
namespace constant_in_domains_test {

const std::vector<std::string> stages = {"scale by=domain",
                                         "scale by=domain shrink_mean=0 shrink_sd=0",
                                         "scale | align shrink_cov=3",
                                         "scale | align map=monge pool_sources=true shrink_cov=3",
                                         "scale | coral shrink_cov=3",
                                         "scale | linot shrink_cov=3",
                                         "scale | barycentre shrink_cov=3"};

/// Three columns, and one more, `device`, that has another value in each of four domains; the last one is the target.
Dataset clinics(bool with_device) {
  constexpr Index rows = 1200;
  Random random(6, "devices");
  Matrix x(rows, with_device ? 4 : 3);
  Labels y = class_labels({"no", "yes"}, {});
  for (Index i = 0; i < rows; ++i) {
    const Index domain = i % 4;
    for (Index j = 0; j < 3; ++j) x(i, j) = (1 + 0.2 * static_cast<double>(domain)) * random.normal();
    if (with_device) x(i, 3) = std::vector<double>{0.1, 0.3, 1e3 / 7, 1.0 / 3}[at(domain)];
    y.index.push_back(x(i, 0) - 0.5 * x(i, 1) + random.normal() > 0 ? 1 : 0);
  }
  Dataset data;
  for (const char* name : {"age", "dose", "pulse", "device"})
    if (with_device || std::string(name) != "device") data.schema.columns.push_back({.name = name, .levels = {}});
  data.x = Features::dense(std::move(x), data.schema.feature_names());
  data.y = std::move(y);
  data.domain = dealt_domains(rows, 4);
  data.role.assign(4, Role::source);
  set_targets(data, {"d4"});
  return data;
}

Batch batch_of(const Dataset& data) { return {data.x, data.domain}; }

Model fit_of(const std::string& pipeline, const Dataset& data) {
  return Model::fit(Pipeline::parse(pipeline), train_view(data, context()), data.schema, context());
}

/// The model of the data dealt to three sites.
Model finished(const std::string& pipeline, const Dataset& all) {
  std::vector<SumsPart> parts;
  for (Index s = 0; s < 3; ++s) {
    std::vector<Index> rows;
    for (Index i = 0; i < all.rows(); ++i)
      if ((i / 4) % 3 == s) rows.push_back(i);
    Dataset data = all;
    data.x = all.x.take(rows);
    data.y = all.y->take(rows);
    data.domain = all.domain.take(rows);
    set_targets(data, all.target_names());
    parts.push_back(make_part(Pipeline::parse(pipeline), data, nullptr, {.min_rows = 1}, context()));
  }
  return finish_parts(in_order(std::move(parts)), nullptr, context());
}

double apart(const Prediction& a, const Prediction& b) { return (a.probability - b.probability).cwiseAbs().maxCoeff(); }

TEST(ConstantInDomains, IsOneValueToTheLastDigitInTraining) {
  const Dataset data = clinics(true);
  for (const std::string& stage : stages) {
    const Vector device = fit_of(stage, data).transform(batch_of(data), context()).to_matrix().col(3);
    EXPECT_EQ(device.minCoeff(), device.maxCoeff()) << stage;
    if (stage.starts_with("scale by=domain")) {
      EXPECT_EQ(device.cwiseAbs().maxCoeff(), 0) << stage;
    }
  }
}

TEST(ConstantInDomains, IsNotLearnedFrom) {
  const Dataset with = clinics(true), without = clinics(false);
  for (const std::string& stage : stages)
    for (const char* learner : {" | ridge lam=0.1", " | logistic l2=0.01"})
      EXPECT_LT(apart(fit_of(stage + learner, with).predict(batch_of(with), context()),
                      fit_of(stage + learner, without).predict(batch_of(without), context())),
                1e-5)
          << stage << learner;
}

TEST(ConstantInDomains, IsTheSameFromSums) {
  const Dataset data = clinics(true);
  for (const std::string& stage : stages) {
    const std::string pipeline = stage + " | ridge lam=0.1";
    EXPECT_LT(apart(fit_of(pipeline, data).predict(batch_of(data), context()),
                    finished(pipeline, data).predict(batch_of(data), context())),
              1e-8)
        << stage;
  }
}

/// Where it varies in the target alone, its residue in the sources would be divided by a small deviation and learned.
TEST(ConstantInDomains, OfTheSourcesAloneHasNoResidueEither) {
  Dataset data = clinics(true);
  Matrix x = data.x.to_matrix();
  Random random(7, "target alone");
  for (Index i = 3; i < x.rows(); i += 4) x(i, 3) += 1e-3 * random.normal();
  data.x = Features::dense(x, data.schema.feature_names());
  const std::string stage = "scale by=domain shrink_mean=0 shrink_sd=0";
  const Matrix z = fit_of(stage, data).transform(batch_of(data), context()).to_matrix();
  for (Index i = 0; i < z.rows(); ++i) {
    if (i % 4 < 3) {
      EXPECT_EQ(z(i, 3), 0);
    }
  }
  EXPECT_GT(z.col(3).cwiseAbs().maxCoeff(), 1);
  const std::string pipeline = stage + " | ridge lam=0.1";
  const Prediction rows = fit_of(pipeline, data).predict(batch_of(data), context());
  EXPECT_LT(apart(rows, finished(pipeline, data).predict(batch_of(data), context())), 1e-8);
}

/// Domains of one row say nothing about which columns vary.
TEST(ConstantInDomains, IsNotToldFromDomainsOfOneRow) {
  TrainView view = overlapping(8, 2, 2, 8);
  for (std::size_t i = 0; i < 8; ++i) view.domain.index[i] = static_cast<std::int32_t>(i);
  const Model model = fitted("align", view);
  const Features fresh = overlapping(20, 2, 2, 1).x;
  const Matrix z = model.transform({fresh, std::nullopt}, context()).to_matrix();
  EXPECT_GT((z.rowwise() - z.row(0)).norm(), 1e-3);
}

}  // namespace constant_in_domains_test
}  // namespace ecotone::test
