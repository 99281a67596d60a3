#include <limits>

#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone {
namespace {

Verdict read_verdict(const ResultField& field) {
  if (field.is_null()) return Verdict::none;
  return field.choice({Verdict::agrees, Verdict::differs, Verdict::cannot_tell}, verdict_name);
}

/// `reference`: the name of the numbers beside ours.
ReproducedRow read_reproduced_row(const ResultField& field, const std::string& reference) {
  ReproducedRow row;
  row.row = field.at("row").text();
  row.column = field.at("column").text();
  row.published = field.at(reference).optional_number();
  row.published_spread = field.at(reference + "_spread").optional_number();
  row.published_se = field.at(reference + "_se").optional_number();
  row.margin = field.at("margin").optional_number();
  row.ours = field.at("ours").number_or_nan();
  row.spread = field.at("spread").optional_number();
  row.se = field.at("se").optional_number();
  row.repetitions = field.at("repetitions").whole();
  row.verdict = read_verdict(field.at("verdict"));
  if (const auto from = field.find("from")) row.from = from->text();
  return row;
}

ReproducedClaim read_claim(const ResultField& field) {
  ReproducedClaim one;
  one.claim.text = field.at("claim").text();
  one.claim.row = field.at("row").text();
  one.claim.column = field.at("column").text();
  if (const auto most = field.find("at_most")) one.claim.at_most = most->number();
  if (const auto least = field.find("at_least")) one.claim.at_least = least->number();
  if (const auto near = field.find("near")) one.claim.near = Nearness{near->number(), field.at("near_se").number()};
  if (one.claim.at_most.has_value() + one.claim.at_least.has_value() + one.claim.near.has_value() != 1)
    field.fail("must have one of at_most, at_least and near");
  if (const auto errors = field.find("errors")) one.claim.errors = errors->number();
  if (const auto minus = field.find("minus")) one.claim.minus = minus->text();
  one.ours = field.at("ours").number_or_nan();
  if (const ResultField holds = field.at("holds"); !holds.is_null()) one.holds = holds.flag();
  return one;
}

}  // namespace

Reproduction reproduction_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Reproduction reproduction;
  reproduction.paper = field.at("paper").text();
  // Documents of version 0.1 and before name neither the experiment nor the sort of part.
  reproduction.experiment = field.find("experiment") ? field.at("experiment").text() : reproduction.paper;
  reproduction.sort = field.find("part") ? field.at("part").text() : "item";
  reproduction.item = field.at("item").text();
  reproduction.title = field.at("title").text();
  reproduction.metric = field.at("metric").text();
  reproduction.source = field.at("source").text();
  reproduction.earlier = field.at("numbers").word({"published", "earlier"}) == 1;
  reproduction.matrix = field.at("matrix").flag();
  const std::string reference(reference_name(reproduction));
  reproduction.rows =
      field.at("rows").each([&](const ResultField& each) { return read_reproduced_row(each, reference); });
  reproduction.claims = field.at("claims").each(read_claim);
  reproduction.left_out = field.at("left_out").texts();
  if (const auto quick = field.find("quick")) reproduction.quick = quick->flag();
  if (const auto processor = field.find("processor")) reproduction.processor = processor->text();
  if (const auto trimmed = field.find("trimmed"))
    reproduction.trimmed = static_cast<int>(trimmed->whole_up_to(std::numeric_limits<int>::max()));
  if (json.contains("figures")) reproduction.figures = figures_from_json(json["figures"], origin + ": figures");
  return reproduction;
}

}  // namespace ecotone
