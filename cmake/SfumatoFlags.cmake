# One interface target carries every compiler flag; sfumato_module() and sfumato_test() link it.

add_library(sfumato_flags INTERFACE)
target_compile_features(sfumato_flags INTERFACE cxx_std_20)
target_compile_options(
  sfumato_flags
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
            -Wdouble-promotion
            -ffp-contract=off # golden numbers agree between machines
            "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=") # messages show relative paths
set(CMAKE_CXX_EXTENSIONS OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(SFUMATO_WERROR)
  target_compile_options(sfumato_flags INTERFACE -Werror)
endif()
if(SFUMATO_SANITIZE)
  target_compile_options(sfumato_flags INTERFACE -fsanitize=${SFUMATO_SANITIZE}
                                                 -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_definitions(sfumato_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(sfumato_flags INTERFACE -fsanitize=${SFUMATO_SANITIZE})
endif()
if(SFUMATO_COVERAGE)
  target_compile_options(sfumato_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(sfumato_flags INTERFACE --coverage)
endif()
