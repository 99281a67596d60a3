#include "ecotone/methods/sums/parts.h"

#include "ecotone/report/json/json.h"

namespace ecotone {
namespace {

Json rows_json(const Moments& moments) {
  Json rows = Json::object();
  for (std::size_t g = 0; g < moments.groups.size(); ++g)
    rows[moments.groups[g]] = static_cast<std::int64_t>(moments.rows[static_cast<Index>(g)]);
  return rows;
}

Json part_json(const SumsPart& part) {
  Json json = {{"part", part.id()}, {"rows", rows_json(part.sums.moments)}};
  if (part.sums.has_targets()) json["targets"] = rows_json(part.sums.targets);
  if (part.sums.task == Task::regress) return json;
  json["classes"] = Json::object();
  for (std::size_t c = 0; c < part.sums.classes.size(); ++c)
    json["classes"][part.sums.classes[c]] = rows_json(part.sums.of_class[c]);
  return json;
}

}  // namespace

Json to_json(const std::vector<SumsPart>& parts) {
  const SumsPart& first = parts.front();
  Json json = {{"kind", "sums"},
               {"pipeline", first.pipeline},
               {"seed", first.seed},
               {"behind", first.behind.empty() ? Json() : Json(first.behind)},
               {"columns", first.sums.cols()},
               {"task", task_name(first.sums.task)},
               {"parts", Json::array()}};
  for (const SumsPart& part : parts) json["parts"].push_back(part_json(part));
  return json;
}

Json finish_json(const Model& model, const std::vector<SumsPart>& parts) {
  Json json = {{"pipeline", model.pipeline().text()},
               {"classes", model.classes()},
               {"domains", model.domains()},
               {"parts", to_json(parts)["parts"]},
               {"stages", Json::array()}};
  for (std::size_t i = 0; i < model.statuses().size(); ++i)
    json["stages"].push_back({{"stage", model.pipeline().stages()[i].method->name},
                              {"converged", model.statuses()[i].converged},
                              {"status", model.statuses()[i].text}});
  return json;
}

}  // namespace ecotone
