#include <cmath>

#include "data/formats/read_support.h"

namespace ecotone {
namespace read_csv_test {

using namespace test;

TEST(ReadCsv, RolesNamesAndMissingValues) {
  const Dataset data =
      csv("site,age,w,sex,y\n"
          "a,63,1,M,1\n"
          "b,NA,2,F,0\n"
          "a, 41.5 ,0.5,,1.0\n"
          "b,?,1,M,nan\n",
          {.label = "y", .domain = "site", .weight = "w"});
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"age", "sex=F", "sex=M"}));
  const Matrix x = data.x.to_matrix();
  EXPECT_EQ(x(0, 0), 63);
  EXPECT_TRUE(std::isnan(x(1, 0)));
  EXPECT_EQ(x(2, 0), 41.5);
  EXPECT_TRUE(std::isnan(x(3, 0)));
  Matrix sex(4, 2);
  sex << 0, 1, 1, 0, 0, 0, 0, 1;
  EXPECT_EQ(x.rightCols(2), sex);
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.domain.index, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(data.weight, (Vector(4) << 1, 2, 0.5, 1).finished());
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(data.y->index, (std::vector<std::int32_t>{1, 0, 1, -1}));
  EXPECT_EQ(data.schema.label, "y");
  EXPECT_EQ(data.schema.columns[1].levels, (std::vector<std::string>{"F", "M"}));
  EXPECT_EQ(data.role, Roles(2, Role::source));
}

TEST(ReadCsv, LineEndsByteOrderMarkAndBlankLines) {
  const Dataset plain = csv("a,b\n1,2\n3,4\n");
  for (const char* text : {"a,b\r\n1,2\r\n3,4\r\n",
                           "\xEF\xBB\xBF"
                           "a,b\n1,2\n3,4",
                           "a,b\n1,2\n3,4\n\n\r\n\n", "\n\na,b\n\n1,2\n\r\n\n3,4\n", "a , b\n 1,2\t\n3 , 4\n",
                           "\"a\",\"b\"\n\"1\",2\n3,\"4\"\r\n", "a,b\r\n1,2\r\n3,4\r"})
    expect_same(csv(text), plain);
}

TEST(ReadCsv, Delimiters) {
  const Matrix expected = csv("a,b\n1,2\n").x.to_matrix();
  EXPECT_EQ(csv("a;b\n1;2\n").x.to_matrix(), expected);
  EXPECT_EQ(csv("a\tb\n1\t2\n").x.to_matrix(), expected);
  EXPECT_EQ(csv("\"a;x\",b\n1,2\n").x.names(), (std::vector<std::string>{"a;x", "b"}));
  EXPECT_EQ(read_csv({ByteSource::memory("a,b\tc\n1\t2\n", "t.tsv")}, {}, {}, context_of(1)).x.names(),
            (std::vector<std::string>{"a,b", "c"}));
}

TEST(ReadCsv, ASpreadsheetMayNameTheSeparator) {
  const Dataset plain = csv("a;b\n12,5;2\n");
  for (const char* text : {"sep=;\na;b\n12,5;2\n", "\xEF\xBB\xBFsep=;\r\na;b\r\n12,5;2\r\n"})
    expect_same(csv(text), plain);
  EXPECT_EQ(csv("sep=;\na,x;b\n1;2\n").x.names(), (std::vector<std::string>{"a,x", "b"}));
  EXPECT_EQ(message_of("ragged_row", ErrorKind::data, [] { csv("sep=;\na;b\n1\n"); }),
            "data.csv line 3: 1 fields, but the header has 2");
  EXPECT_NE(message_of("bad_header", ErrorKind::data, [] { csv("sep=|\na|b\n1|2\n"); }).find("sep=|"),
            std::string::npos);
}

TEST(ReadCsv, TextInUtf16IsRefusedWithTheWayOut) {
  const auto utf16 = [](std::string_view text, bool big) {
    std::string bytes;
    for (const char c : text) bytes += big ? std::string{'\0', c} : std::string{c, '\0'};
    return bytes;
  };
  const std::string text = "a,b\n1,2\n";
  const auto refused = [](const std::string& bytes) {
    return message_of("utf16", ErrorKind::data, [&] { csv(bytes); });
  };
  EXPECT_EQ(
      refused("\xFF\xFE" + utf16(text, false)),
      "data.csv is UTF-16 text, which is not read here; save it as UTF-8: iconv -f UTF-16 -t UTF-8 < 'data.csv' > "
      "'data-utf8.csv'");
  EXPECT_NE(refused("\xFE\xFF" + utf16(text, true)).find("-f UTF-16 "), std::string::npos);
  EXPECT_NE(refused(utf16(text, false)).find("-f UTF-16LE "), std::string::npos);
  EXPECT_NE(refused(utf16(text, true)).find("-f UTF-16BE "), std::string::npos);
}

TEST(ReadCsv, LinesThatEndInCarriageReturnsAloneAreRefused) {
  const std::string expected =
      "data.csv: lines end with a carriage return alone, as on old Macintosh computers; save it with the line ends of "
      "Unix or Windows: tr '\\r' '\\n' < 'data.csv' > 'data-lines.csv'";
  std::string large = "a,b\r";
  while (large.size() < 100'000) large += "1,2\r";
  for (const std::string& text : {std::string("a,b\r1,2\r3,4\r"), std::string("a,b\r1,2\r3,4\n"), large})
    EXPECT_EQ(message_of("line_ends", ErrorKind::data, [&] { csv(text); }), expected);
}

TEST(ReadCsv, QuotedFields) {
  const Dataset data =
      csv("name,v\n"
          "\"x, y\",1\n"
          "\"say \"\"hi\"\"\",2\n"
          "\"two\nlines\",3\n"
          "5\" pipe,4\n"
          "\"tail\"end,5\n"
          "\"\",6\n");
  EXPECT_EQ(data.schema.columns[0].levels,
            (std::vector<std::string>{"5\" pipe", "say \"hi\"", "tailend", "two\nlines", "x, y"}));
  EXPECT_EQ(data.x.to_matrix().rightCols(1).sum(), 21);
  EXPECT_EQ(data.x.to_matrix().row(5).head(5).sum(), 0);
}

TEST(ReadCsv, RaggedRowsAreNamedByLine) {
  EXPECT_EQ(message_of("ragged_row", ErrorKind::data, [] { csv("a,b,c\n1,2,3\n\"x\ny\",2,3\n1,2\n"); }),
            "data.csv line 5: 2 fields, but the header has 3");
  EXPECT_EQ(message_of("ragged_row", ErrorKind::data, [] { csv("a,b\n1,2\n1,2,3,4\n"); }),
            "data.csv line 3: 4 fields, but the header has 2");
  message_of("ragged_row", ErrorKind::data, [] { csv("a,b\n1,2\n1,2,\n"); });
}

TEST(ReadCsv, BadHeadersAndEmptyFiles) {
  EXPECT_EQ(message_of("duplicate_column", ErrorKind::data, [] { csv("a,b,a\n1,2,3\n"); }),
            "data.csv: column 'a' occurs twice in the header, as columns 1 and 3");
  message_of("empty_column_name", ErrorKind::data, [] { csv("a,,b\n1,2,3\n"); });
  EXPECT_EQ(message_of("empty_data", ErrorKind::data, [] { csv(""); }), "data.csv is empty");
  message_of("empty_data", ErrorKind::data, [] { csv("\n\n\r\n"); });
  EXPECT_EQ(message_of("empty_data", ErrorKind::data, [] { csv("a,b\n"); }), "data.csv: a header but no data rows");
  message_of("empty_data", ErrorKind::data, [] { csv("a,b\n\n\n"); });
  EXPECT_EQ(message_of("open_quote", ErrorKind::data, [] { csv("a,b\n1,2\n\"x,3\n"); }),
            "data.csv line 3: a quoted field is never closed");
}

TEST(ReadCsv, ACategoryMustNotGiveTheNameOfAnotherColumn) {
  const std::string text = "t=p,t,y\n10,p,0\n20,q,1\n35,p,0\n11,q,1\n";
  ReadOptions options{.label = "y"};
  const std::string message = message_of("duplicate_column", ErrorKind::data, [&] { csv(text, options); });
  EXPECT_NE(message.find("'t=p' and 't'"), std::string::npos) << message;
  EXPECT_NE(message.find("--ignore"), std::string::npos) << message;
  options.ignore = {"t=p"};
  EXPECT_EQ(csv(text, options).x.names(), (std::vector<std::string>{"t=p", "t=q"}));
  options.ignore = {"t"};
  EXPECT_EQ(csv(text, options).x.names(), (std::vector<std::string>{"t=p"}));
}

TEST(ReadCsv, UnknownColumnsAreNamedWithAGuess) {
  const std::string message =
      message_of("unknown_column", ErrorKind::data, [] { csv("label,b\n1,2\n", {.label = "lable"}); });
  EXPECT_NE(message.find("no column 'lable', did you mean 'label'?"), std::string::npos) << message;
  EXPECT_NE(message.find("label, b"), std::string::npos) << message;
  for (const ReadOptions& options :
       {ReadOptions{.domain = "zzz"}, ReadOptions{.weight = "zzz"}, ReadOptions{.ignore = {"zzz"}},
        ReadOptions{.features = {"zzz"}}, ReadOptions{.where = {"zzz==1"}}})
    message_of("unknown_column", ErrorKind::data, [&] { csv("label,b\n1,2\n", options); });
  message_of("column_twice", ErrorKind::option, [] { csv("a,b\n1,2\n", {.label = "a", .domain = "a"}); });
  message_of("unknown_domain", ErrorKind::data, [] { csv("a,b\n1,2\n", {.domain = "a", .target = {"2"}}); });
}

TEST(ReadCsv, FeaturesAndIgnore) {
  const char* text = "a,b,c,d\n1,x,3,4\n";
  EXPECT_EQ(csv(text, {.ignore = {"b"}}).x.names(), (std::vector<std::string>{"a", "c", "d"}));
  EXPECT_EQ(csv(text, {.features = {"d", "a"}}).x.names(), (std::vector<std::string>{"a", "d"}));
}

TEST(ReadCsv, TaskIsGuessedSaidAndOverridden) {
  Recorder seen;
  const Context context = context_of(1, &seen);
  std::string few = "y\n";
  std::string many = "y\n";
  for (int i = 0; i < 60; ++i) {
    few += std::to_string(i % 20) + (i % 2 ? ".0\n" : "\n");
    many += std::to_string(i % 21) + "\n";
  }
  EXPECT_EQ(csv(few, {.label = "y"}, {}, context).y->classes.size(), 20U);
  ASSERT_EQ(seen.notes.size(), 1U);
  EXPECT_NE(seen.notes[0].find("classify"), std::string::npos);
  EXPECT_EQ(csv(many, {.label = "y"}, {}, context).y->task, Task::regress);
  EXPECT_NE(seen.notes[1].find("regress"), std::string::npos);
  EXPECT_EQ(csv("y\n1\n2.5\n", {.label = "y"}, {}, context).y->task, Task::regress);
  EXPECT_EQ(csv("y\nb\na\n", {.label = "y"}, {}, context).y->classes, (std::vector<std::string>{"a", "b"}));
  const std::size_t notes = seen.notes.size();
  EXPECT_EQ(csv(many, {.label = "y", .task = Task::classify}, {}, context).y->classes.size(), 21U);
  EXPECT_EQ(csv("y\n10\n9\n2.50\n", {.label = "y", .task = Task::classify}, {}, context).y->classes,
            (std::vector<std::string>{"2.5", "9", "10"}));
  EXPECT_EQ(csv(few, {.label = "y", .task = Task::regress}, {}, context).y->task, Task::regress);
  EXPECT_EQ(seen.notes.size(), notes) << "a given task needs no note";
  message_of("text_label", ErrorKind::data, [] { csv("y\nb\na\n", {.label = "y", .task = Task::regress}); });
}

TEST(ReadCsv, NotesCountInWords) {
  Recorder seen;
  const Context context = context_of(1, &seen);
  csv("a,y\n1,\n2,\n", {.label = "y"}, {}, context);
  EXPECT_TRUE(seen.notes.empty());
  csv("a,y\n1,3\n2,3\n", {.label = "y"}, {}, context);
  csv("a,y\n1,u\n2,u\n", {.label = "y"}, {}, context);
  ASSERT_EQ(seen.notes.size(), 2U);
  EXPECT_NE(seen.notes[0].find("holds one integer:"), std::string::npos) << seen.notes[0];
  EXPECT_NE(seen.notes[1].find("with 1 class:"), std::string::npos) << seen.notes[1];
}

TEST(ReadCsv, AllLabelsMissing) {
  const Dataset data = csv("x,y\n1,\n2,NA\n", {.label = "y"});
  EXPECT_EQ(data.y->size(), 2);
  EXPECT_TRUE(data.y->missing(0) && data.y->missing(1));
}

TEST(ReadCsv, DomainsAreTextAsWritten) {
  const Dataset data = csv("d,x\n02,1\n2,2\n2.0,3\n02,4\n", {.domain = "d", .target = {"2"}});
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"02", "2", "2.0"}));
  EXPECT_EQ(data.role, (Roles{Role::source, Role::target, Role::source}));
  message_of("missing_domain", ErrorKind::data, [] { csv("d,x\n1,1\n,2\n", {.domain = "d"}); });
  EXPECT_EQ(csv("d,x\n1,1\n,2\n", {.domain = "d", .where = {"d!="}}).rows(), 1);
  EXPECT_EQ(csv("x\n1\n2\n").domain.names, (std::vector<std::string>{"all"}));
}

TEST(ReadCsv, WhereFiltersRows) {
  const char* text = "d,x,t,y\na,1,u,-1\nb,2,v,0\na,3,,1\nb,4.0,u,\n";
  const auto rows = [&](std::vector<std::string> where) {
    const Matrix x = csv(text, {.label = "y", .domain = "d", .ignore = {"t"}, .where = std::move(where)}).x.to_matrix();
    return std::vector<double>(x.data(), x.data() + x.size());
  };
  using List = std::vector<double>;
  EXPECT_EQ(rows({"x==4"}), (List{4}));
  EXPECT_EQ(rows({"x = 4.00"}), (List{4}));
  EXPECT_EQ(rows({"x!=4"}), (List{1, 2, 3}));
  EXPECT_EQ(rows({"x<3"}), (List{1, 2}));
  EXPECT_EQ(rows({"x<=3"}), (List{1, 2, 3}));
  EXPECT_EQ(rows({"x>3"}), (List{4}));
  EXPECT_EQ(rows({"x>=3"}), (List{3, 4}));
  EXPECT_EQ(rows({"y!=-1"}), (List{2, 3, 4}));
  EXPECT_EQ(rows({"y>-1"}), (List{2, 3}));
  EXPECT_EQ(rows({"t==u"}), (List{1, 4}));
  EXPECT_EQ(rows({"t!=u"}), (List{2, 3}));
  EXPECT_EQ(rows({"t=="}), (List{3}));
  EXPECT_EQ(rows({"t!="}), (List{1, 2, 4}));
  EXPECT_EQ(rows({"d==\"a\"", "x>1"}), (List{3}));
  message_of("empty_data", ErrorKind::data, [&] { rows({"x>100"}); });
  message_of("bad_where", ErrorKind::option, [&] { rows({"x"}); });
  message_of("bad_where", ErrorKind::option, [&] { rows({"==3"}); });
  message_of("bad_where", ErrorKind::option, [&] { rows({"x<u"}); });
  EXPECT_EQ(csv("a<b,c\n1,2\n3,4\n", {.where = {"a<b>=2"}}).rows(), 1) << "names may hold operators";
}

TEST(ReadCsv, RowsKnowTheirNumberInTheFile) {
  const std::string text = "a,y,site\n0,u,A\n1,v,B\n2,u,A\n3,,B\n4,v,B\n";
  ReadOptions options{.label = "y", .domain = "site"};
  EXPECT_TRUE(csv(text, options).origin.empty());
  options.where = {"a!=1"};
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 20}) {
    const Dataset data = csv(text, options, {.segment_bytes = bytes});
    EXPECT_EQ(data.origin, (Origin{0, 2, 3, 4}));
    // Source rows come first, those without a label are left out.
    Dataset target = data;
    set_targets(target, {"A"});
    EXPECT_EQ(train_view(target, context_of(1)).origin, (Origin{4, 0, 2}));
    EXPECT_EQ(batch(data, std::vector<Index>{1, 3}).origin, (Origin{2, 4}));
  }
}

TEST(ReadCsv, MessagesCountRowsInTheFile) {
  const std::string text = "a,w,y,site\n0,1,u,A\n1,1,v,B\n2,-1,u,A\n3,1,v,\n";
  ReadOptions options{.label = "y", .domain = "site", .weight = "w", .where = {"a>=1"}};
  std::string message = message_of("missing_domain", ErrorKind::data, [&] { csv(text, options); });
  EXPECT_NE(message.find("row 4 "), std::string::npos) << message;
  options.where = {"a>=1", "site!="};
  const Dataset data = csv(text, options);
  message = message_of("negative_weight", ErrorKind::data, [&] { train_view(data, context_of(1)); });
  EXPECT_NE(message.find("row 3"), std::string::npos) << message;
}

/// Whatever pass over the file meets them: text columns need a pass of their own.
TEST(ReadCsv, OfTwoFaultsTheFirstInTheFileIsReported) {
  const std::string bad_weight = "v,heavy,s,u\n", ragged = "v,1,s,u,5\n", good = "v,1,s,u\n", numbers = "1,1,2,3\n";
  for (const std::string& first_rows : {good + good, numbers + numbers + good}) {
    for (const bool weight_first : {true, false}) {
      const std::string text = "y,w,d,a\n" + first_rows + (weight_first ? bad_weight : ragged) + good +
                               (weight_first ? ragged : bad_weight) + good;
      const ReadOptions options{.label = "y", .weight = "w"};
      const char* const code = weight_first ? "bad_value" : "ragged_row";
      const std::string message = message_of(code, ErrorKind::data, [&] { csv(text, options); });
      for (std::size_t bytes = 1; bytes < 80; bytes += 3)
        EXPECT_EQ(
            message_of(code, ErrorKind::data, [&] { csv(text, options, {.segment_bytes = bytes}, context_of(2)); }),
            message)
            << bytes;
    }
  }
  // Both faults in one row, as a fuzzer found it: the bad weight stands before the field too many.
  const std::string found =
      "\xef\xbb\xbfy;w;d;a2\x12\r;a2\x12\r\n\r\n/\xbfy;2;d2;d;a\r\n1;0\x80\x80\x80\x80\x80s;0;;0t;\r\n";
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2}, std::size_t{40}, CsvTuning{}.segment_bytes})
    message_of("bad_value", ErrorKind::data,
               [&] { csv(found, {.label = "y", .weight = "w"}, {.segment_bytes = bytes}); });
}

TEST(ReadCsv, FilteredRowsLeaveNoTrace) {
  // The text in a filtered row would make x categorical, its domain a third one and its label a third class.
  const Dataset data = csv("d,x,y,keep\na,1,p,1\nc,oops,q,0\nb,2,r,1\n",
                           {.label = "y", .domain = "d", .ignore = {"keep"}, .where = {"keep==1"}});
  EXPECT_EQ(data.schema.columns[0].kind, ColumnKind::numeric);
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"p", "r"}));
}

TEST(ReadCsv, ExamplesAreCutBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc");
  EXPECT_EQ(shortened("ab\xC3\xA4", 3), "ab");  // an umlaut of two bytes
  std::string text = "name,y\n";
  for (int i = 0; i < 150; ++i)
    text += std::string(39, 'x') + "\xC3\xA4" + std::to_string(i) + (i % 2 == 0 ? ",u\n" : ",v\n");
  const std::string message = message_of("too_many_levels", ErrorKind::data, [&] { csv(text, {.label = "y"}); });
  EXPECT_NE(message.find("'" + std::string(39, 'x') + "'"), std::string::npos) << message;
}

TEST(ReadCsv, TooManyLevelsNamesColumnsAndSuggestsIgnore) {
  std::string text = "id,x,code\n";
  for (int i = 0; i < 101; ++i) text += fmt::format("p{},1,c{}\n", i, i % 100);
  text += "p0,1,c0\n";
  const std::string message = message_of("too_many_levels", ErrorKind::data, [&] { csv(text); });
  EXPECT_NE(message.find("column 'id'"), std::string::npos) << message;
  EXPECT_NE(message.find("--ignore id"), std::string::npos) << message;
  EXPECT_NE(message.find("'trees' takes such columns"), std::string::npos) << message;
  EXPECT_EQ(message.find("code"), std::string::npos) << message;
  EXPECT_EQ(csv(text, {.ignore = {"id"}}).x.cols(), 101);
  EXPECT_EQ(csv(text, {.domain = "id"}).domain.count(), 101) << "only features are limited";
}

TEST(ReadCsv, ManyTextsThatAreAllDifferentAreLeftOut) {
  std::string text = "id,x,name\n";
  for (int i = 0; i < 101; ++i) text += fmt::format("p{},{},n{}\n", i, i % 7, i);
  const Dataset data = csv(text);
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"x"}));
  EXPECT_EQ(data.left_out, (std::vector<std::string>{"id", "name"}));
  // What the user names stays, and something must be left.
  message_of("too_many_levels", ErrorKind::data, [&] { csv(text, {.features = {"id", "x"}}); });
  message_of("too_many_levels", ErrorKind::data, [&] { csv(text, {.ignore = {"x"}}); });
  // One text twice, and it is not an id.
  message_of("too_many_levels", ErrorKind::data, [&] { csv(text + "p0,1,n101\n"); });
}

/// Rows of numbers, of which one is another text in line 60.
std::string one_bad_cell(int different, const std::string& good, const std::string& bad) {
  std::string text = "age,x\n";
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{},{}\n", i == 58 ? bad : fmt::format(fmt::runtime(good), 1 + i % different), i % 7);
  return text;
}

/// The warning of this code by every route of the reader.
std::string warning_by_every_route(const std::string& code, const std::string& text, const ReadOptions& options = {}) {
  const Folder folder;
  const auto path = folder.write("data.csv", text);
  std::vector<std::string> found;
  const auto read = [&](const ByteSource& source, const CsvTuning& tuning, int threads) {
    Recorder seen;
    read_csv({source}, options, tuning, context_of(threads, &seen));
    for (const auto& [known, message] : seen.warnings)
      if (known == code) found.push_back(message);
  };
  const ByteSource memory = ByteSource::memory(text, "data.csv");
  read(memory, {}, 1);
  for (const std::size_t bytes : {7U, 100U}) read(memory, {.segment_bytes = bytes}, 3);
  EXPECT_EQ(found, std::vector<std::string>(3, found.empty() ? "" : found.front()));
  read(ByteSource::open(path, context_of(1)), {.segment_bytes = 32, .stream = true}, 2);
  EXPECT_EQ(found.size(), 4U);
  return found.empty() ? "" : found.front();
}

TEST(ReadCsv, OneTextAmongNumbersIsNamed) {
  const std::string text = one_bad_cell(80, "{}", "4O") + "4l,1\n";
  EXPECT_EQ(warning_by_every_route("almost_numbers", text),
            "column 'age' is read as 82 categories: most are numbers, but '4O' in data.csv line 60 is not; mend that "
            "field, leave it empty, or leave the column out with --ignore age");
  EXPECT_EQ(
      warning_by_every_route("almost_numbers", text, {.label = "age"}),
      "column 'age' is read as 82 classes: most are numbers, but '4O' in data.csv line 60 is not; mend that field "
      "or leave it empty");
  std::string european = text;
  std::ranges::replace(european, ',', ';');
  EXPECT_NE(warning_by_every_route("almost_numbers", european), "");
  // The sign of decimals is that of the column itself.
  european = "age;x\n";
  for (int i = 0; i < 50; ++i) european += i == 30 ? "-;1\n" : fmt::format("{},5;{}\n", i, i % 3);
  EXPECT_NE(warning_by_every_route("almost_numbers", european).find("'-' in data.csv line 32"), std::string::npos);
}

TEST(ReadCsv, WordsAndFewNumbersAreCategoriesWithoutAWarning) {
  Recorder seen;
  csv(one_bad_cell(8, "{}", "many"), {}, {}, context_of(1, &seen));
  csv(one_bad_cell(80, "c{}", "17"), {}, {}, context_of(1, &seen));
  csv(one_bad_cell(80, "{}", "n/a"), {}, {}, context_of(1, &seen));
  EXPECT_FALSE(seen.warned("almost_numbers"));
  EXPECT_EQ(csv(one_bad_cell(80, "{}", "n/a")).x.cols(), 2);
}

TEST(ReadCsv, OneImpossibleDateIsNamed) {
  EXPECT_EQ(warning_by_every_route("almost_numbers", one_bad_cell(28, "{:02}.02.2016", "30.02.2016")),
            "column 'age' is read as 29 categories: most are dates, but '30.02.2016' in data.csv line 60 is not; mend "
            "that field, leave it empty, or leave the column out with --ignore age");
  EXPECT_NE(warning_by_every_route("ambiguous_date", one_bad_cell(28, "{:02}/02/2016", "02/13/2016")).find("some"),
            std::string::npos);
}

TEST(ReadCsv, TooManyLevelsShowTheTextThatIsNoNumber) {
  std::string text = "age,x\n";
  for (int i = 0; i < 300; ++i) text += i == 250 ? "4O,1\n" : fmt::format("{},{}\n", i % 290, i % 7);
  for (const int threads : {1, 3})
    EXPECT_EQ(message_of("too_many_levels", ErrorKind::data,
                         [&] { csv(text, {}, {.segment_bytes = 100}, context_of(threads)); }),
              "data.csv: column 'age' holds more than 100 distinct values, too many for a category; most of 'age' are "
              "numbers, but '4O' in data.csv line 252 is not: mend that field, leave it empty, or leave it out with "
              "--ignore age (or name the column that names rows with --id)");
  // A measurement that differs in every row is not an id.
  text = "age,x\n";
  for (int i = 0; i < 300; ++i) text += i == 250 ? "4O,1\n" : fmt::format("{},{}\n", i, i % 7);
  EXPECT_NE(message_of("too_many_levels", ErrorKind::data, [&] { csv(text); }).find("line 252"), std::string::npos);
  EXPECT_NE(message_of("text_label", ErrorKind::data, [&] { csv(text, {.label = "age", .task = Task::regress}); })
                .find("'4O'"),
            std::string::npos);
}

TEST(ReadCsv, TabsLeaveRoomForDecimalCommas) {
  const Dataset data = csv("a\tb\n12,5\t1.234,5\n-0,25\t7\n");
  EXPECT_EQ(data.x.to_matrix(), (Matrix{{12.5, 1234.5}, {-0.25, 7}}));
  const Dataset points = csv("a\tb\n12.5\t1,234\n0.25\t7,000\n");
  EXPECT_EQ(points.x.to_matrix(), (Matrix{{12.5, 1234}, {0.25, 7000}}));
}

TEST(ReadCsv, TextThatIsNotUtf8IsTakenAsLatin1) {
  Recorder seen;
  const Dataset data =
      csv("st\xE4"
          "dt,b\nK\xF6ln,1\nZ\xC3\xBCrich,2\n",
          {}, {}, context_of(1, &seen));
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"städt=Köln", "städt=Zürich", "b"}));
  EXPECT_TRUE(seen.warned("not_utf8"));
  EXPECT_EQ(data.x.to_matrix().row(0).head(2).sum(), 1);
}

TEST(ReadCsv, NulBytesAndLongFields) {
  using namespace std::string_literals;
  const Dataset data = csv("a,b\nx\0y,1\n"s + std::string(3'000'000, 'z') + ",2\n");
  EXPECT_EQ(data.schema.columns[0].levels[0], "x\0y"s);
  EXPECT_EQ(data.schema.columns[0].levels[1].size(), 3'000'000U);
  EXPECT_EQ(data.x.to_matrix()(1, 2), 2);
}

TEST(ReadCsv, WeightMustBeANumber) {
  EXPECT_EQ(message_of("bad_value", ErrorKind::data, [] { csv("w,x\n1,2\nheavy,3\n", {.weight = "w"}); }),
            "data.csv line 3: column 'w' is 'heavy', expected a number");
}

TEST(ReadCsv, OneRowAndOneColumn) {
  EXPECT_EQ(csv("a\n7").x.to_matrix(), Matrix::Constant(1, 1, 7));
  EXPECT_EQ(csv("a,y\n7,1\n", {.label = "y"}).y->classes, (std::vector<std::string>{"1"}));
  const Dataset none = csv("y\n1\n2\n", {.label = "y"});
  EXPECT_EQ(none.x.cols(), 0);
  EXPECT_EQ(none.rows(), 2);
}

TEST(ReadCsv, HundredThousandColumns) {
  std::string text;
  for (int j = 0; j < 100'000; ++j) text.append(j ? ",c" : "c").append(std::to_string(j));
  for (int i = 0; i < 3; ++i) {
    text += '\n';
    for (int j = 0; j < 100'000; ++j) text.append(j ? "," : "").append(std::to_string(i * 0.5 + j));
  }
  const Dataset data = csv(text, {.label = "c7", .ignore = {"c9"}}, {}, context_of(2));
  EXPECT_EQ(data.x.cols(), 99'998);
  EXPECT_EQ(data.x.to_matrix()(2, 99'997), 100'000);
  const Dataset again = read_csv_for_model({ByteSource::memory(text, "new.csv")}, data.schema, {}, {}, context_of(2));
  expect_same(again, data);
}

}  // namespace read_csv_test
}  // namespace ecotone
