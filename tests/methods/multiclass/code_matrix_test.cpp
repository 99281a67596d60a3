#include "ecotone/methods/multiclass/code_matrix.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "methods/support.h"

namespace ecotone::test {
namespace code_matrix_test {

void expect_sound(const Matrix& code, Index distance) {
  const CodeDiagnosis found = ecoc_diagnose(code);
  EXPECT_GE(found.min_row_distance, distance);
  EXPECT_EQ(found.corrects, (found.min_row_distance - 1) / 2);
  EXPECT_TRUE(found.equivalent_columns.empty());
  EXPECT_TRUE(found.constant_columns.empty());
  EXPECT_TRUE((code.array().abs() == 1).all());
}

TEST(CodeMatrix, ExhaustiveCodesHaveAllColumns) {
  for (Index classes = 3; classes <= 8; ++classes) {
    const Matrix code = exhaustive_code(classes);
    EXPECT_EQ(code.cols(), (Index{1} << (classes - 1)) - 1);
    expect_sound(code, Index{1} << (classes - 2));
  }
}

TEST(CodeMatrix, RandomCodesHaveDistanceThree) {
  for (const Index classes : {4, 5, 8, 20, 70, 300}) {
    SCOPED_TRACE(classes);
    const Matrix code = random_code("test", classes, 0, context());
    EXPECT_EQ(code.rows(), classes);
    expect_sound(code, 3);
    EXPECT_EQ(random_code("test", classes, 0, context(7)), code);
  }
  EXPECT_NE(random_code("test", 20, 0, context()), random_code("test", 20, 0, Context({.threads = 1, .seed = 2})));
  EXPECT_EQ(random_code("test", 20, 0, context()).cols(), 44);  // 10 log2 20 = 43.2
  EXPECT_EQ(random_code("test", 20, 25, context()).cols(), 25);
  EXPECT_EQ(random_code("test", 3, 0, context()).cols(), 3);
}

TEST(CodeMatrix, RefusesLengthsThatCannotBe) {
  EXPECT_EQ(code_of([] { random_code("test", 4, 8, context()); }), "bad_option");
  const auto short_code = [] { random_code("logistic", 20, 6, context()); };
  EXPECT_EQ(code_of(short_code), "bad_option");
  EXPECT_TRUE(message_of(short_code).starts_with("logistic: code_length=6 is too short for 20 classes"));
}

TEST(CodeMatrix, DiagnosesConstantEqualAndComplementaryColumns) {
  Matrix code(3, 5);
  code << 1, 1, -1, 1, -1,  //
      1, -1, 1, -1, 1,      //
      1, -1, 1, 1, -1;
  const CodeDiagnosis found = ecoc_diagnose(code);
  EXPECT_EQ(found.constant_columns, (std::vector<Index>{0}));
  EXPECT_EQ(found.equivalent_columns, (std::vector<std::pair<Index, Index>>{{1, 2}, {3, 4}}));
  EXPECT_EQ(found.min_row_distance, 2);
  EXPECT_EQ(found.corrects, 0);
}

class CodeFile : public testing::Test {
 protected:
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("ecotone_code_{}.csv", ::getpid());

  ~CodeFile() override { std::filesystem::remove(path); }

  /// Code of what fitting three classes with this code file gives.
  std::string fit(const std::string& text) {
    std::ofstream(path) << text;
    return code_of([&] {
      fitted(fmt::format("logistic l2=0.1 multiclass=ecoc code='{}'", path.string()), overlapping(60, 3, 3, 1));
    });
  }
};

TEST_F(CodeFile, IsReadAsItStands) {
  std::ofstream(path) << "1, -1,+1\r\n-1,1,1\r\n-1,-1,-1.0\r\n\r\n";
  Matrix expected(3, 3);
  expected << 1, -1, 1, -1, 1, 1, -1, -1, -1;
  EXPECT_EQ(read_code(path, {"a", "b", "c"}), expected);
  EXPECT_EQ(fit("1,-1,-1\n-1,1,-1\n-1,-1,1"), "none");
}

TEST_F(CodeFile, IsLookedForWithTwoClassesToo) {
  const TrainView two = overlapping(60, 3, 2, 1);
  const auto fit_two = [&] { fitted(fmt::format("logistic l2=0.1 multiclass=ecoc code='{}'", path.string()), two); };
  EXPECT_EQ(code_of(fit_two), "cannot_open");
  std::ofstream(path) << "1\n-1\n1\n";
  EXPECT_EQ(code_of(fit_two), "shape_mismatch");
  std::ofstream(path) << "1\n-1\n";
  EXPECT_EQ(code_of(fit_two), "none");
}

TEST_F(CodeFile, ErrorsByName) {
  EXPECT_EQ(fit("1,-1\n-1,1\n"), "shape_mismatch");
  EXPECT_EQ(fit(""), "shape_mismatch");
  EXPECT_EQ(fit("1,-1,-1\n-1,1\n-1,-1,1\n"), "shape_mismatch");
  EXPECT_EQ(fit("1,-1,-1\n-1,0,-1\n-1,-1,1\n"), "bad_code");
  EXPECT_EQ(fit("a,b,c\n1,-1,-1\n-1,1,-1\n"), "bad_code");
  EXPECT_EQ(fit("1,-1,\n-1,1,-1\n-1,-1,1\n"), "bad_code");
  EXPECT_EQ(fit("\n1,-1\n-1,1\n"), "bad_code");
  EXPECT_EQ(fit("1,-1,1\n-1,1,1\n-1,-1,1\n"), "constant_code_column");
  EXPECT_EQ(fit("1,-1\n-1,1\n-1,1\n"), "equal_code_rows");
}

TEST_F(CodeFile, MissingIsAFileError) {
  try {
    read_code(path / "no_such", {"a", "b", "c"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::file);
  }
}

TEST(CodeMatrix, ExhaustiveIsRefusedForManyClasses) {
  const TrainView view = overlapping(130, 3, 13, 1);
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 multiclass=ecoc codes=exhaustive", view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 multiclass=ecoc", view); }), "none");
}

}  // namespace code_matrix_test
}  // namespace ecotone::test
