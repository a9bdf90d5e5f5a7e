cmake_minimum_required(VERSION 3.25)
# cmake -DBUILD_DIR= -DINCLUDE_DIR= -DWORK_DIR= -DCXX= [-DCXX_FLAGS=] -DPROGRAM_TEST= -DCPP_PAGE= -DHARDENED= -P install_test.cmake
# Installs the build tree into a fresh prefix, moves the prefix away from where it was installed, looks at the
# program and the headers there, and builds and runs the programs of docs/cpp.md against it.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${WORK_DIR}")
run("install" ${CMAKE_COMMAND} --install "${BUILD_DIR}" --prefix "${WORK_DIR}/staging")
file(RENAME "${WORK_DIR}/staging" "${WORK_DIR}/prefix")

# Nothing of the build machine may be left in the package.
file(GLOB_RECURSE package_files "${WORK_DIR}/prefix/*.cmake")
foreach(file ${package_files})
  file(READ "${file}" text)
  foreach(leak "${BUILD_DIR}" "${WORK_DIR}" "sfumato_flags")
    string(FIND "${text}" "${leak}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} mentions ${leak}")
    endif()
  endforeach()
endforeach()

# The public headers and version.hpp, and no other.
file(GLOB_RECURSE public RELATIVE "${INCLUDE_DIR}" "${INCLUDE_DIR}/*")
list(APPEND public sfumato/version.hpp)
file(GLOB_RECURSE installed RELATIVE "${WORK_DIR}/prefix/include" "${WORK_DIR}/prefix/include/*")
list(SORT public)
list(SORT installed)
if(NOT public STREQUAL installed)
  message(FATAL_ERROR "installed are\n${installed}\ninstead of\n${public}")
endif()

run("the installed program" ${CMAKE_COMMAND} -E env "SFUMATO=${WORK_DIR}/prefix/bin/sfumato"
    "SFUMATO_HARDENING=${HARDENED}" /usr/bin/python3 -B "${PROGRAM_TEST}")
run("docs/cpp.md" /usr/bin/python3 -B "${CPP_PAGE}" "${WORK_DIR}/prefix" "${WORK_DIR}/consumer" "${CXX}" "${CXX_FLAGS}")
