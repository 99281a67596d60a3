#include "ecotone/measure/confusion.h"

#include <gtest/gtest.h>

namespace ecotone {
namespace confusion_test {

TEST(Confusion, RatiosByHand) {
  const Confusion c{.true_positive = 6, .false_positive = 2, .true_negative = 8, .false_negative = 4};
  EXPECT_DOUBLE_EQ(*sensitivity(c), 0.6);
  EXPECT_DOUBLE_EQ(*specificity(c), 0.8);
  EXPECT_DOUBLE_EQ(*ppv(c), 0.75);
  EXPECT_DOUBLE_EQ(*npv(c), 8.0 / 12);
  EXPECT_DOUBLE_EQ(*f1(c), 12.0 / 18);
}

TEST(Confusion, NothingToDivideByIsUndefined) {
  Confusion no_positive_call;
  no_positive_call.add(true, false, 3);
  no_positive_call.add(false, false, 5);
  EXPECT_FALSE(ppv(no_positive_call));
  EXPECT_EQ(sensitivity(no_positive_call), 0.0);
  EXPECT_EQ(f1(no_positive_call), 0.0);
  Confusion one_class;
  one_class.add(false, false, 1);
  EXPECT_FALSE(sensitivity(one_class));
  EXPECT_FALSE(f1(one_class));
  EXPECT_EQ(npv(one_class), 1.0);
}

TEST(BestCut, HasNoCutWhereNoneHasAValue) {
  const Vector p = Vector::Constant(3, 0.3);
  const Vector positive = Vector::Ones(3);
  EXPECT_FALSE(best_cut(p, positive, Vector::Ones(3), [](const Confusion& c) { return specificity(c); }));
  EXPECT_EQ(best_cut(p, positive, Vector::Ones(3), [](const Confusion& c) { return sensitivity(c); }), 0.15);
}

}  // namespace confusion_test
}  // namespace ecotone
