#include "ecotone/base/error.h"

#include "base/temp_folder.h"

namespace ecotone {
namespace error_test {

TEST(Error, CarriesKindCodeAndMessage) {
  EXPECT_EQ(message_of(ErrorKind::option, "bad_option",
                       [] { option_error("bad_option", "dica: lam must be > 0, got {}", -1); }),
            "dica: lam must be > 0, got -1");
  EXPECT_EQ(message_of(ErrorKind::data, "one_class", [] { data_error("one_class", "svm: only class '{}'", "a"); }),
            "svm: only class 'a'");
  message_of(ErrorKind::file, "cannot_open", [] { file_error("cannot_open", "x"); });
  message_of(ErrorKind::internal, "internal", [] { internal_error("x"); });
  message_of(ErrorKind::cancelled, "cancelled", [] { cancelled_error(); });
}

TEST(Error, KindsDecideTheExitCode) {
  EXPECT_EQ(exit_code(ErrorKind::option), 2);
  EXPECT_EQ(exit_code(ErrorKind::data), 3);
  EXPECT_EQ(exit_code(ErrorKind::file), 4);
  EXPECT_EQ(exit_code(ErrorKind::cancelled), 130);
  EXPECT_EQ(exit_code(ErrorKind::internal), 70);
  EXPECT_EQ(kind_name(ErrorKind::data), "data");
}

}  // namespace error_test
}  // namespace ecotone
