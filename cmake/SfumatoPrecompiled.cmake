# What nearly every source includes, compiled once: the standard library, Eigen and fmt for the library and the
# program, GoogleTest and RapidCheck besides for the tests. A source still includes what it uses; the check that
# headers stand alone (tests/structure) is made without.
set(SFUMATO_COMMON_HEADERS
    <Eigen/Cholesky> <Eigen/Core> <algorithm> <array> <cmath> <cstdint> <filesystem> <fmt/format.h> <fmt/ranges.h>
    <functional> <limits> <map> <memory> <numeric> <optional> <span> <string> <string_view> <utility> <variant> <vector>)

function(sfumato_precompile target)
  cmake_parse_arguments(ARG "" "" "LINK;OPTIONS;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/${target}.cpp" CONTENT "// The headers are the point.\n")
  add_library(${target} OBJECT "${CMAKE_BINARY_DIR}/precompiled/${target}.cpp")
  target_link_libraries(${target} PRIVATE sfumato_flags Eigen3::Eigen fmt::fmt ${ARG_LINK})
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${target} PRIVATE ${SFUMATO_COMMON_HEADERS} ${ARG_HEADERS})
endfunction()

set(SFUMATO_WORDS_OPTIONS "$<$<CONFIG:Release>:-O1>")
sfumato_precompile(sfumato_precompiled LINK sfumato_hardening)
sfumato_precompile(sfumato_precompiled_words LINK sfumato_hardening nlohmann_json::nlohmann_json OPTIONS ${SFUMATO_WORDS_OPTIONS}
                   HEADERS <nlohmann/json.hpp> <sstream>)
set_target_properties(sfumato_precompiled sfumato_precompiled_words PROPERTIES POSITION_INDEPENDENT_CODE ON)  # as the modules are
