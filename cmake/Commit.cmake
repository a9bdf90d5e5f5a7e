# Writes OUTPUT, a source with the commit of SOURCE; leaves it alone if nothing changed.
#   cmake -DSOURCE=... -DOUTPUT=... -P Commit.cmake
find_program(git git)
set(commit "")
if(git)
  execute_process(COMMAND "${git}" -C "${SOURCE}" describe --always --dirty --exclude=* --abbrev=12
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
string(REGEX REPLACE "[^0-9a-z-]" "" commit "${commit}")
set(text "#include \"provenance.hpp\"\n\nstd::string sfumato::apps::build_commit() { return \"${commit}\"; }\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
