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

# A program that defends itself: overflows of the stack and of buffers, indices out of range and hijacked returns end
# the program instead of going on, and the linker's tables are read-only before main.
# tests/structure/program_test.py looks at the program. Sanitizers see more and want none of it.
add_library(sfumato_hardening INTERFACE)
if(SFUMATO_HARDENING AND NOT SFUMATO_SANITIZE AND NOT SFUMATO_COVERAGE)
  include(CheckCXXCompilerFlag)
  set(CMAKE_REQUIRED_FLAGS -Werror) # clang warns of flags of other processors and takes them
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "SFUMATO_HAS${flag}" has)
    check_cxx_compiler_flag(${flag} ${has})
    if(${has})
      target_compile_options(sfumato_hardening INTERFACE ${flag})
    endif()
  endforeach()
  unset(CMAKE_REQUIRED_FLAGS)
  target_compile_definitions(sfumato_hardening INTERFACE _GLIBCXX_ASSERTIONS)
  # The checks of the C library come with optimisation alone; some compilers bring a level of their own.
  target_compile_options(
    sfumato_hardening INTERFACE "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  target_link_options(sfumato_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
