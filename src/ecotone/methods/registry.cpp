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

/// Names that other packages have for what is here, or for what is not.
struct Elsewhere {
  std::vector<std::string_view> names;
  const char* here;
};

const std::vector<Elsewhere>& elsewhere() {
  static const std::vector<Elsewhere> all = {
      {{"xgboost", "lightgbm", "catboost", "gbm", "gbdt", "gradient_boosting", "random_forest", "randomforest", "tree"},
       "trees are boosted by 'adaboost base=tree'"},
      {{"pca"}, "principal components are 'kpca kernel=linear'"},
      {{"elasticnet", "elastic_net"}, "use 'logistic l1=auto l2=auto' or 'least_squares l1=auto l2=auto'"},
      {{"lasso"}, "use 'logistic l1=auto' or 'least_squares l1=auto'"},
      {{"linear", "linear_regression", "ols", "lm"}, "use 'least_squares' or 'ridge'"},
      {{"logistic_regression", "logisticregression", "logreg", "lr"}, "use 'logistic'"},
      {{"svc", "svr", "linearsvc", "libsvm"}, "use 'svm'"},
      {{"gpr", "gaussian_process", "kriging"}, "use 'gp'"},
      {{"standard_scaler", "standardscaler", "standardise", "standardize", "zscore", "normalise", "normalize"},
       "use 'scale'"},
      {{"imputer", "simple_imputer", "simpleimputer", "fillna"}, "use 'impute'"},
      {{"platt", "isotonic", "calibration"}, "use 'calibrate' behind a learner"},
      {{"dummy", "majority", "baseline", "mean"}, "use 'constant'"},
      {{"kmm", "kliep", "ulsif", "rulsif", "importance", "reweight"},
       "source rows are weighted to a target by 'weight.logistic', 'weight.knn' and 'weight.gaussian'"},
      {{"coral", "tca", "jdot", "ot", "transport", "subspace", "dann"},
       "it is not part of ecotone; 'weight.logistic', 'adapt.joint' and 'dasvm' adapt to a target, and 'dica' looks "
       "for "
       "components that vary little between domains"},
      {{"irm", "groupdro", "vrex", "dro"}, "it is not part of ecotone; 'step' and 'ridge' have penalty=variance"}};
  return all;
}

/// What to use instead of a name of another package; empty if it is none.
std::string_view here_instead_of(std::string_view name) {
  std::string lower(name);
  for (char& letter : lower)
    letter = letter == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const Elsewhere& each : elsewhere())
    if (std::ranges::find(each.names, lower) != each.names.end()) return each.here;
  return {};
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
