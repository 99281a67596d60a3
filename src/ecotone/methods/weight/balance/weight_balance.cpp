#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/robust/balance.h"

namespace ecotone {
namespace {

enum class BalanceBy { domain, domain_class };

struct WeightBalanceOptions {
  BalanceBy by = BalanceBy::domain;

  static constexpr auto fields() {
    return std::tuple{field("by", &WeightBalanceOptions::by,
                            "What gets equal weight: every source domain, or every class in every source domain",
                            one_of("domain", "domain_class"))};
  }
};

/// One domain, or one class of it.
struct BalanceCell {
  std::string domain;
  std::string cls;  ///< empty: all rows of the domain
  Index rows = 0;
  double weight = 0;  ///< of each of its rows
};

/// Equal weight for domains; it passes rows on unchanged in prediction.
class Balance : public Fitted {
 public:
  Balance(std::vector<BalanceCell> cells, double ess) : cells_(std::move(cells)), ess_(ess) {}

  StageState save() const override {
    StageState state;
    Json list = Json::array();
    for (const BalanceCell& cell : cells_) {
      Json item = {{"domain", cell.domain}, {"rows", cell.rows}, {"weight", cell.weight}};
      if (!cell.cls.empty()) item["class"] = cell.cls;
      list.push_back(std::move(item));
    }
    state.info["cells"] = std::move(list);
    state.info["ess"] = ess_;
    return state;
  }

 private:
  std::vector<BalanceCell> cells_;
  double ess_;
};

/// The labelled rows; all source rows where nothing is labelled.
Index balance_rows(const TrainView& view) {
  if (view.labelled() > 0) return view.labelled();
  const auto is_target = [&](std::int32_t d) { return view.role[at(d)] == Role::target; };
  return std::ranges::find_if(view.domain.index, is_target) - view.domain.index.begin();
}

StageResult fit_balance(const TrainView& view, const WeightBalanceOptions& options, const Context&, FitCache&) {
  const bool by_class = options.by == BalanceBy::domain_class && view.labelled() > 0;
  if (by_class) require_classes("weight.balance by=domain_class", view);
  const Index rows = balance_rows(view);
  if (rows == 0) data_error("empty_data", "weight.balance: there are no source rows to weight");
  const auto classes = by_class ? static_cast<Index>(view.y.classes.size()) : Index{1};
  std::vector<std::int32_t> cell(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < cell.size(); ++i)
    cell[i] = view.domain.index[i] * static_cast<std::int32_t>(classes) + (by_class ? view.y.index[i] : 0);
  const Vector given = view.labelled() > 0 ? view.weight : Vector();
  const BalancedCells balanced = balanced_cells(cell, view.domain.count() * classes, given);
  Vector weight(rows);
  for (Index i = 0; i < rows; ++i) weight[i] = balanced.factor[cell[at(i)]] * (given.size() == 0 ? 1.0 : given[i]);
  if (weight.maxCoeff() <= 0) data_error("zero_weights", "weight.balance: all rows have weight 0");
  std::vector<BalanceCell> cells;
  for (Index c = 0; c < balanced.rows.size(); ++c) {
    if (balanced.rows[c] == 0) continue;
    cells.push_back({view.domain.names[at(c / classes)], by_class ? view.y.classes[at(c % classes)] : "",
                     static_cast<Index>(balanced.rows[c]), balanced.factor[c]});
  }
  const double ess = effective_sample_size(weight);
  TrainView next = view;
  if (view.labelled() > 0) next.weight = std::move(weight);
  Status status;
  if (cells.size() == 1) status.text = "one_domain: there is nothing to balance";
  return {std::make_shared<Balance>(std::move(cells), ess), std::move(next), std::move(status)};
}

std::shared_ptr<const Fitted> load_balance(const StageState& state, const WeightBalanceOptions&, const StageInput&) {
  const auto list = state.info.find("cells");
  if (list == state.info.end() || !list->is_array()) file_error("bad_model", "'cells' must be a list");
  std::vector<BalanceCell> cells;
  for (const Json& item : *list) {
    if (!item.is_object()) file_error("bad_model", "'cells' must be a list of objects");
    StageState one;
    one.info = item;
    BalanceCell cell{one.text("domain"), item.contains("class") ? one.text("class") : "", one.count("rows"),
                     one.number("weight")};
    if (!(cell.weight >= 0)) file_error("bad_model", "'weight' of a cell must be at least 0, is {}", cell.weight);
    cells.push_back(std::move(cell));
  }
  const double ess = state.number("ess");
  if (!(ess >= 0)) file_error("bad_model", "'ess' must be at least 0, is {}", ess);
  return std::make_shared<Balance>(std::move(cells), ess);
}

}  // namespace

Method weight_balance_method() {
  return make_method<WeightBalanceOptions, fit_balance, load_balance>(
      {.name = "weight.balance",
       .family = Family::weight,
       .summary = "Gives every source domain the same total weight, however many rows it has.",
       .when =
           "when a large domain should not speak for all of them. Assumes that every domain deserves the same say; "
           "harms where small domains are noisy. In our study it was better than nothing in 8 and worse in 7 of 66 new "
           "domains. Needs no target.",
       .example = "impute | scale | weight.balance | logistic",
       .routes = {{Route::streamed}},
       .takes_missing = true});
}

}  // namespace ecotone
