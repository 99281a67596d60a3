# The citations of docs/glossary.md as a source of the layer report, so that the program can give them in full.
set(glossary ${PROJECT_SOURCE_DIR}/docs/glossary.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${glossary})
file(READ ${glossary} text)
string(FIND "${text}" "\n## Citations\n" begin)
string(SUBSTRING "${text}" ${begin} -1 text)
string(CONCAT content "// Made by cmake/Citations.cmake from docs/glossary.md.\n#include \"ecotone/report/citations.h\"\n\n"
  "namespace ecotone {\n\nstd::string_view citations_of_the_glossary() {\n  return R\"citations(" "${text}"
  ")citations\";\n}\n\n}  // namespace ecotone\n")
ecotone_generate(report citations.cpp content)
