# sfumato_module(NAME SOURCES a.cpp ... [PUBLIC libs...] [PRIVATE libs...])
#   A static library sfumato_NAME with the alias sfumato::NAME. PUBLIC is what its headers include,
#   PRIVATE what only its sources include.
function(sfumato_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(sfumato_${name} STATIC ${ARG_SOURCES})
  add_library(sfumato::${name} ALIAS sfumato_${name})
  set_target_properties(sfumato_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(
    sfumato_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>"
                           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(sfumato_${name} PUBLIC cxx_std_20)
  target_link_libraries(sfumato_${name} PUBLIC ${ARG_PUBLIC}
                                        PRIVATE ${ARG_PRIVATE} "$<BUILD_INTERFACE:sfumato_flags>"
                                                "$<BUILD_INTERFACE:sfumato_hardening>")
  set_property(GLOBAL APPEND PROPERTY SFUMATO_MODULES sfumato_${name})
  install(TARGETS sfumato_${name} EXPORT sfumatoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sfumato/${name}" FILES_MATCHING PATTERN "*.hpp")
endfunction()

# sfumato_test(LABEL path/to/x_test.cpp LINK libs...)
#   One executable and one ctest entry per file, named label/path without the suffix.
function(sfumato_test label source)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  string(REGEX REPLACE "\\.cpp$" "" stem "${source}")
  string(REPLACE "/" "_" target "${label}_${stem}")
  add_executable(${target} "${label}/${source}")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE ${ARG_LINK} sfumato_flags GTest::gtest_main rapidcheck)
  # What is tested is the library, optimised as users have it; the tests themselves need not be.
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME "${label}/${stem}" COMMAND ${target})
  set_tests_properties("${label}/${stem}" PROPERTIES LABELS ${label})
endfunction()
