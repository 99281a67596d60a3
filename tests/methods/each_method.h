#pragma once

#include <map>
#include <string>
#include <utility>

#include "ecotone/data/dataset.h"
#include "ecotone/methods/method.h"

/// What runs where every registered method is tested: by the contract, and as seeds of the model fuzzer.
namespace ecotone::test {

/// Methods whose defaults are for large data: what runs in their place where a fit is wanted and not the defaults.
inline const std::map<std::string, const char*> quick = {
    {"dbn", "dbn layers=5,4 epochs=2"},  // 3,000 hidden units and 15 epochs a layer take minutes on 21 blocks
    // A factorisation of 10,000 rows takes minutes; the exact routes have tests of their own.
    {"kpca", "kpca route=low_rank rank=20"},
    {"udica", "udica route=low_rank rank=20"},
    {"coir", "coir route=low_rank rank=20"},
    {"dica", "dica route=low_rank rank=20"},
    {"tca", "tca route=low_rank rank=20 components=5"},
    {"weight.kmm", "weight.kmm rank=20"},
    {"weight.kliep", "weight.kliep sigma=3 centres=20"},  // the choice of options has tests of its own
    {"weight.ulsif", "weight.ulsif sigma=3 lam=0.1 centres=20"},
    {"weight.rulsif", "weight.rulsif sigma=3 lam=0.1 centres=20"},
    {"gp", "gp sigma=3 rank=20"},  // more than 4,000 rows: by a map, whose width would be searched on 2,000 of them
    {"groupdro", "groupdro base='logistic l2=0.01'"},  // the choice of a penalty has tests of its own
    {"adaboost", "adaboost rounds=30"},
    {"trees", "trees rounds=10 leaves=8"},  // the choice of both has tests of its own
    {"forest", "forest trees=4"},
    {"adapt.jdot", "adapt.jdot rounds=2"},  // a plan of 1,900 x 600 rows in every round
    {"daboost", "daboost rounds=30 vote=3"},
    {"dasvm", "dasvm tolerance=0.1 rho=4000 circular=false"},  // as svm, in every round
    {"svm", "svm tolerance=0.1"},                              // nearly all of the overlapping rows are support vectors
};

/// The method with its defaults as a pipeline; one that reads decision values has a learner before it.
inline std::string with_defaults(const Method& method) {
  return method.follows_learner() ? "logistic l2=0.1 | " + method.name : method.name;
}

/// The pipeline that fits use.
inline std::string alone(const Method& method) {
  const auto found = quick.find(method.name);
  return found == quick.end() ? with_defaults(method) : found->second;
}

/// The view with labels that the method can learn: numbers 1, 2, ... in place of classes where it wants these.
inline TrainView suited(const Method& method, TrainView view) {
  if (!method.regression_only() || view.y.task != Task::classify) return view;
  Labels y{Task::regress, {}, {}, Vector(view.labelled())};
  for (Index i = 0; i < view.labelled(); ++i) y.value[i] = 1.0 + view.y.index[static_cast<std::size_t>(i)];
  view.y = std::move(y);
  return view;
}

}  // namespace ecotone::test
