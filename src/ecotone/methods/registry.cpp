#include "ecotone/methods/registry.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/methods/multiclass/multiclass.h"

namespace ecotone {

#define METHOD(id) Method id##_method();
#include "ecotone/methods/methods.def"
#undef METHOD

namespace {

/// Those that learn two classes get the rest from the combinator.
std::vector<Method> all_methods() {
  std::vector<Method> all = {
#define METHOD(id) id##_method(),
#include "ecotone/methods/methods.def"
#undef METHOD
  };
  for (Method& each : all) {
    if (each.combines_classes()) each = with_multiclass(std::move(each));
  }
  return all;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = all_methods();
  return all;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& each : methods()) names.push_back(each.name);
  return names;
}

namespace {

/// Names that other packages have for what is here, or for what is not; in lower case, without _ and -.
struct Elsewhere {
  std::vector<std::string_view> names;
  const char* here;
};

const std::vector<Elsewhere>& elsewhere() {
  static const std::vector<Elsewhere> all = {
      {{"xgboost", "xgb", "lightgbm", "lgbm", "gbm", "gbdt", "gradientboosting", "histgradientboosting"},
       "use 'trees'"},
      {{"catboost"}, "use 'trees', or 'trees shape=symmetric' for its kind of trees"},
      {{"randomforest", "extratrees", "rf", "ranger"}, "use 'forest'"},
      {{"decisiontree", "tree", "cart"}, "one tree is 'trees rounds=1 rate=1'; boosted ones are 'trees'"},
      {{"pca", "svd", "truncatedsvd"}, "principal components are 'kpca kernel=linear'"},
      {{"kernelpca"}, "use 'kpca'"},
      {{"tsne", "umap", "isomap", "ica", "nmf", "autoencoder"},
       "components are found by 'kpca', 'udica', 'coir' and 'dica', features of a deep network by 'dbn'"},
      {{"elasticnet"}, "use 'logistic l1=auto l2=auto' or 'least_squares l1=auto l2=auto'"},
      {{"lasso"}, "use 'logistic l1=auto' or 'least_squares l1=auto'"},
      {{"linear", "linearregression", "ols", "lm"}, "use 'least_squares' or 'ridge'"},
      {{"glm", "glmnet"}, "use 'logistic', 'probit', 'poisson' or 'least_squares'"},
      {{"logisticregression", "logreg", "logit", "lr"}, "use 'logistic'"},
      {{"svc", "svr", "linearsvc", "linearsvr", "libsvm"}, "use 'svm'"},
      {{"gpr", "gaussianprocess", "kriging"}, "use 'gp'"},
      {{"knn", "kneighbors", "kneighbours", "nearestneighbors", "nearestneighbours"},
       "nearest neighbours do not predict here; 'svm' fits curved boundaries, and 'weight.knn' weights source rows"},
      {{"mlp", "nn", "dnn", "cnn", "neuralnet", "neuralnetwork"},
       "'dbn' learns the features of a deep network, for a learner such as 'logistic' behind it"},
      {{"nb", "naivebayes", "gaussiannb", "lda", "qda"}, "it is not part of ecotone; try 'logistic' first"},
      {{"standardscaler", "standardise", "standardize", "zscore", "normalise", "normalize", "minmax", "minmaxscaler",
        "robustscaler"},
       "use 'scale'"},
      {{"imputer", "simpleimputer", "fillna"}, "use 'impute'"},
      {{"onehot", "onehotencoder", "dummies", "getdummies", "labelencoder"},
       "no stage is needed: text columns become categories when a file is read"},
      {{"selectkbest", "rfe", "boruta", "stepwise", "featureselection"},
       "features are selected by 'step', 'tgreedy' and 'greedy'"},
      {{"platt", "isotonic", "calibration", "calibrated"}, "use 'calibrate' behind a learner"},
      {{"dummy", "majority", "baseline", "mean"}, "use 'constant'"},
      {{"kmm"}, "use 'weight.kmm'"},
      {{"kliep"}, "use 'weight.kliep'"},
      {{"ulsif"}, "use 'weight.ulsif'"},
      {{"rulsif"}, "use 'weight.rulsif'"},
      {{"tars", "targetshift"}, "use 'weight.tars'"},
      {{"importance", "reweight"},
       "source rows are weighted to a target by 'weight.logistic', 'weight.knn' and 'weight.gaussian'"},
      {{"correlationalignment", "deepcoral"}, "use 'coral'"},
      {{"monge", "linearot"}, "use 'linot'"},
      {{"subspacealignment", "sa"}, "use 'subspace'"},
      {{"quantiletransformer", "ranktransform"}, "use 'rank'"},
      {{"dann"},
       "it is not part of ecotone; 'weight.logistic', 'adapt.joint' and 'dasvm' adapt to a target, and 'dica' looks "
       "for components that vary little between domains"},
      {{"ot", "emd", "sinkhorn", "ottransport"}, "use 'transport'"},
      {{"jdot"}, "use 'adapt.jdot'"},
      {{"irm", "vrex", "rex", "cvar"}, "it is an option of linear models, such as 'logistic risk=vrex'"},
      {{"dro"}, "use 'groupdro'"},
      {{"anchorregression"}, "use 'anchor'"}};
  return all;
}

/// In lower case, without _ and - and what classes of scikit-learn end in.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char letter : name)
    if (letter != '_' && letter != '-') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const std::string_view ending : {"classifier", "regressor", "cv"})
    if (plain.size() > ending.size() && plain.ends_with(ending)) plain.resize(plain.size() - ending.size());
  return plain;
}

/// What to use instead of a name that other packages have; empty if it is none.
std::string here_instead_of(std::string_view name) {
  const std::string plain = plain_name(name);
  for (const Elsewhere& each : elsewhere())
    if (std::ranges::find(each.names, plain) != each.names.end()) return each.here;
  for (const Method& each : methods())
    if (plain_name(each.name) == plain) return fmt::format("use '{}'", each.name);
  return "";
}

}  // namespace

const Method& method(std::string_view name) {
  for (const Method& candidate : methods())
    if (candidate.name == name) return candidate;
  if (const auto here = here_instead_of(name); !here.empty())
    option_error("unknown_method", "unknown method '{}'; {}", name, here);
  const std::vector<std::string> names = method_names();
  const std::string near = did_you_mean(name, names);
  if (near.empty())
    option_error("unknown_method", "unknown method '{}'; choose one of {}", name, fmt::join(names, ", "));
  option_error("unknown_method", "unknown method '{}'; did you mean '{}'?", name, near);
}

}  // namespace ecotone
