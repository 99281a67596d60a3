#include "ecotone/report/json/json.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone {

Json to_json(const Moments& moments) {
  Json domains = Json::array();
  for (std::size_t g = 0; g < moments.groups.size(); ++g)
    domains.push_back({{"domain", moments.groups[g]},
                       {"rows", static_cast<std::int64_t>(moments.rows[static_cast<Index>(g)])},
                       {"labelled", moments.labelled[g] != 0}});
  return {{"kind", "moments"},
          {"features", moments.cols()},
          {"classes", moments.classes},
          {"domains", std::move(domains)},
          {"gram", gram_name(moments.gram_kind())}};
}

}  // namespace ecotone
