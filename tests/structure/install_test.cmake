cmake_minimum_required(VERSION 3.25)
# cmake -DBUILD_DIR= -DCONSUMER_DIR= -DWORK_DIR= -DCXX= [-DCXX_FLAGS=] -DPROGRAM_TEST= -DHARDENED= -P install_test.cmake
# Installs the build tree into a fresh prefix, moves the prefix away from where it was installed, looks at the
# program there, and builds and runs the example consumer against it.
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

run("the installed program" ${CMAKE_COMMAND} -E env "SFUMATO=${WORK_DIR}/prefix/bin/sfumato"
    "SFUMATO_HARDENING=${HARDENED}" /usr/bin/python3 -B "${PROGRAM_TEST}")
run("configure" ${CMAKE_COMMAND} -S "${CONSUMER_DIR}" -B "${WORK_DIR}/build" -G Ninja
    -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix")
run("build" ${CMAKE_COMMAND} --build "${WORK_DIR}/build")
run("consumer" "${WORK_DIR}/build/consumer")
file(READ "${CONSUMER_DIR}/expected_output.txt" expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "the consumer printed\n${output}instead of\n${expected}")
endif()
