#include <cmath>
#include <limits>

#include "data/formats/read_support.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/random.h"

namespace ecotone {
namespace write_csv_test {

using namespace test;

TEST(WriteCsv, ColumnsAndQuotes) {
  const Folder folder;
  const Dataset data = csv("a,t,y,d,w\n1.5,\"x, \"\"y\"\"\",p,s1,2\n,,,s2,1\n-0,\" z\",q,s1,0.1\n",
                           {.label = "y", .domain = "d", .weight = "w"});
  write_csv(data, folder.path("o.csv"), context_of(1));
  EXPECT_EQ(read_text(folder.path("o.csv")), "d,a,t,w,y\ns1,1.5,\"x, \"\"y\"\"\",2,p\ns2,,,1,\ns1,-0,\" z\",0.1,q\n");
}

TEST(WriteCsv, ReadingBackGivesTheSameBytesForAnyThreads) {
  const Folder folder;
  Random random(1, "write");
  Matrix x(1700, 3);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal() * std::pow(10.0, random.uniform(-200, 200));
  x(3, 1) = std::numeric_limits<double>::infinity();
  x(4, 1) = -std::numeric_limits<double>::infinity();
  x(5, 1) = std::numeric_limits<double>::quiet_NaN();
  x(6, 1) = std::numeric_limits<double>::denorm_min();
  Dataset data;
  data.x = Features::dense(x, {"a", "b", "c"});
  data.schema.columns = {
      {"a", ColumnKind::numeric, {}}, {"b", ColumnKind::numeric, {}}, {"c", ColumnKind::numeric, {}}};
  data.domain = {{"all"}, std::vector<std::int32_t>(1700, 0)};
  std::string bytes;
  for (const int threads : {1, 2, 7}) {
    write_csv(data, folder.path("o.csv"), context_of(threads));
    const std::string now = read_text(folder.path("o.csv"));
    if (bytes.empty()) bytes = now;
    EXPECT_EQ(now, bytes);
  }
  EXPECT_TRUE(same_bytes(read_dataset({folder.path("o.csv")}, {}, context_of(2)).x.to_matrix(), x));
}

TEST(WriteCsv, AColumnAloneKeepsItsMissingRows) {
  const Folder folder;
  const Dataset data = csv("a\n1\nNA\n3\n");
  write_csv(data, folder.path("o.csv"), context_of(1));
  EXPECT_EQ(read_dataset({folder.path("o.csv")}, {}, context_of(1)).rows(), 3);
}

TEST(WriteCsv, NamesThatCollideAreChanged) {
  const Folder folder;
  Dataset data = csv("label,b\n1,2\n3,4\n");
  data.y = Labels{Task::classify, {"u", "v"}, {0, 1}, {}};
  write_csv(data, folder.path("o.csv"), context_of(1));
  EXPECT_EQ(read_text(folder.path("o.csv")), "label,b,label_\n1,2,u\n3,4,v\n");
}

}  // namespace write_csv_test
}  // namespace ecotone
