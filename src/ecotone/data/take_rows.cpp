#include "ecotone/data/take_rows.h"

namespace ecotone {

Dataset take_rows(Dataset data, const std::vector<Index>& rows) {
  if (data.weight.size() > 0) data.weight = Vector(data.weight(rows));
  if (data.time.size() > 0) data.time = Vector(data.time(rows));
  data.group = take_groups(data.group, rows);
  data.x = data.x.take(rows);
  data.domain = data.domain.take(rows);
  data.origin = take_origin(data.origin, rows);
  if (data.y) {
    data.y = data.y->take(rows);
    if (data.y->task == Task::classify) drop_unused_classes(*data.y);
  }
  data.role.assign(data.domain.names.size(), Role::source);
  return data;
}

}  // namespace ecotone
