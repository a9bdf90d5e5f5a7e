# Run as a script with -DOUTPUT=x.cpp -DSTYLE= -DPAGE= -DFIGURES= (see src/sfumato/report/CMakeLists.txt):
# writes the C++ source that holds these files; FIGURES may be empty.
function(literal variable path)
  set(text "")
  if(NOT path STREQUAL "" AND EXISTS "${path}")
    file(READ "${path}" text)
  endif()
  set(delimiter "sfumato_web")
  string(FIND "${text}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${path} contains the end of a raw string")
  endif()
  set(${variable} "R\"${delimiter}(${text})${delimiter}\"" PARENT_SCOPE)
endfunction()

literal(style "${STYLE}")
literal(page "${PAGE}")
literal(figures "${FIGURES}")
file(WRITE "${OUTPUT}" "// Made by cmake/EmbedWeb.cmake.
#include \"sfumato/report/web_assets.hpp\"

namespace sfumato {
namespace {

constexpr char kStyle[] = ${style};
constexpr char kPage[] = ${page};
constexpr char kFigures[] = ${figures};

}  // namespace

const WebAssets& web_assets() {
  static constexpr WebAssets kAssets{{kStyle, sizeof kStyle - 1},
                                     {kPage, sizeof kPage - 1},
                                     {kFigures, sizeof kFigures - 1}};
  return kAssets;
}

}  // namespace sfumato
")
