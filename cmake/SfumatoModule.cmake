# sfumato_module(NAME SOURCES a.cpp ... [PUBLIC libs...] [PRIVATE libs...])
#   A static library sfumato_NAME with the alias sfumato::NAME. PUBLIC is what its headers include,
#   PRIVATE what only its sources include.
function(sfumato_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(sfumato_${name} STATIC ${ARG_SOURCES})
  add_library(sfumato::${name} ALIAS sfumato_${name})
  set_target_properties(sfumato_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(
    sfumato_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                           "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>"
                           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(sfumato_${name} PUBLIC cxx_std_20)
  target_link_libraries(sfumato_${name} PUBLIC ${ARG_PUBLIC}
                                        PRIVATE ${ARG_PRIVATE} "$<BUILD_INTERFACE:sfumato_flags>"
                                                "$<BUILD_INTERFACE:sfumato_hardening>")
  target_precompile_headers(sfumato_${name} REUSE_FROM sfumato_precompiled)
  set_property(GLOBAL APPEND PROPERTY SFUMATO_MODULES sfumato_${name})
  set_property(GLOBAL PROPERTY SFUMATO_USES_${name} ${ARG_PUBLIC} ${ARG_PRIVATE})
  install(TARGETS sfumato_${name} EXPORT sfumatoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# sfumato_tests(LABEL MODULE)
#   One executable with every tests/LABEL/MODULE/*_test.cpp, and one ctest entry per file, LABEL/MODULE/NAME_test, which
#   runs the suites of that file. A suite belongs to one file.
function(sfumato_tests label module)
  file(GLOB sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/${label}/${module}" CONFIGURE_DEPENDS
       "${label}/${module}/*_test.cpp")
  set(target ${label}_${module}_tests)
  list(TRANSFORM sources PREPEND "${label}/${module}/" OUTPUT_VARIABLE paths)
  add_executable(${target} ${paths})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE sfumato::${module} sfumato_flags GTest::gtest_main rapidcheck)
  # What is tested is the library, optimised as users have it; the tests themselves need not be.
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} REUSE_FROM sfumato_precompiled_tests)
  set(taken "")
  foreach(source ${sources})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${label}/${module}/${source}")
    file(STRINGS "${label}/${module}/${source}" cases REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_[A-Z_]*PROP)\\(")
    list(TRANSFORM cases REPLACE "^[A-Z_]+\\( *([A-Za-z0-9_]+).*" "\\1")
    list(REMOVE_DUPLICATES cases)
    string(REGEX REPLACE "\\.cpp$" "" stem "${source}")
    if(NOT cases)
      message(FATAL_ERROR "${label}/${module}/${source} has no test")
    endif()
    foreach(suite ${cases})
      if(suite IN_LIST taken)
        message(FATAL_ERROR "${label}/${module}/${source}: another file of this folder has tests of a suite ${suite}")
      endif()
      list(APPEND taken ${suite})
    endforeach()
    list(TRANSFORM cases APPEND ".*" OUTPUT_VARIABLE plain)
    list(TRANSFORM cases REPLACE "(.+)" "*/\\1.*" OUTPUT_VARIABLE parametrised)
    list(JOIN plain ":" filter)
    list(JOIN parametrised ":" more)
    add_test(NAME "${label}/${module}/${stem}" COMMAND ${target} "--gtest_filter=${filter}:${more}")
    set_tests_properties("${label}/${module}/${stem}" PROPERTIES LABELS ${label})
  endforeach()
endfunction()
