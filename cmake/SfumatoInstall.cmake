# find_package(sfumato) for users of the installed tree: one imported target sfumato::NAME per module, and
# sfumato::sfumato, which is all of them.
include(CMakePackageConfigHelpers)

add_library(sfumato_whole INTERFACE)
add_library(sfumato::sfumato ALIAS sfumato_whole)
set_target_properties(sfumato_whole PROPERTIES EXPORT_NAME sfumato)
set(whole sfumato::account sfumato::rows sfumato::quadratic sfumato::bound sfumato::design sfumato::fit sfumato::audit sfumato::lab_report
          sfumato::lab_train)
target_link_libraries(sfumato_whole INTERFACE ${whole})
install(TARGETS sfumato_whole EXPORT sfumatoTargets)
set_property(GLOBAL PROPERTY SFUMATO_USES_sfumato ${whole})

# What a module needs of other packages, its own and that of the modules below it: the modules are static
# libraries, so what their sources use must be found as well, but a user of some modules needs not what others use.
set(SFUMATO_PACKAGE_Threads::Threads "Threads")
set(SFUMATO_PACKAGE_Eigen3::Eigen "Eigen3 3.4")
set(SFUMATO_PACKAGE_Boost::headers "Boost 1.74")
set(SFUMATO_PACKAGE_fmt::fmt "fmt")
set(SFUMATO_PACKAGE_nlohmann_json::nlohmann_json "nlohmann_json")
set(SFUMATO_PACKAGE_tomlplusplus::tomlplusplus "tomlplusplus")
set(SFUMATO_PACKAGE_ZLIB::ZLIB "ZLIB")
set(SFUMATO_PACKAGE_hwy::hwy "hwy")
set(SFUMATO_PACKAGE_LibLZMA::LibLZMA "LibLZMA")
set(SFUMATO_PACKAGE_OpenSSL::Crypto "OpenSSL COMPONENTS Crypto")
set(SFUMATO_PACKAGE_SQLite::SQLite3 "SQLite3")
set(SFUMATO_PACKAGE_MPI::MPI_CXX "MPI COMPONENTS CXX")

function(sfumato_packages_of module variable)
  get_property(uses GLOBAL PROPERTY SFUMATO_USES_${module})
  set(packages "")
  foreach(target ${uses})
    if(target MATCHES "^sfumato::(.*)$")
      sfumato_packages_of(${CMAKE_MATCH_1} below)
      list(APPEND packages ${below})
    elseif(DEFINED SFUMATO_PACKAGE_${target})
      list(APPEND packages "${SFUMATO_PACKAGE_${target}}")
    else()
      message(FATAL_ERROR "sfumato_${module} links ${target}: say in cmake/SfumatoInstall.cmake which package has it")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  set(${variable} "${packages}" PARENT_SCOPE)
endfunction()

get_property(modules GLOBAL PROPERTY SFUMATO_MODULES)
set(SFUMATO_COMPONENTS "sfumato")
list(TRANSFORM modules REPLACE "^sfumato_" "" OUTPUT_VARIABLE names)
list(APPEND SFUMATO_COMPONENTS ${names})
set(SFUMATO_PACKAGES "")
foreach(component ${SFUMATO_COMPONENTS})
  sfumato_packages_of(${component} packages)
  string(APPEND SFUMATO_PACKAGES "set(sfumato_packages_of_${component} \"${packages}\")\n")
endforeach()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sfumato")
install(EXPORT sfumatoTargets NAMESPACE sfumato:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/sfumatoConfig.cmake.in "${PROJECT_BINARY_DIR}/sfumatoConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
# Interfaces may change with each minor version until 1.0.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sfumatoConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sfumatoConfig.cmake"
              "${PROJECT_BINARY_DIR}/sfumatoConfigVersion.cmake" DESTINATION "${package_dir}")
# The public headers: those of include/, which tools/check_layers.py holds closed, and version.hpp of the build. The
# headers in src/ are not installed; one that callers are to have moves to include/ and into sfumato.hpp.
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE CITATION.cff DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libsfumato-dev")

# Everything that `cmake --install` copies, without tests and benchmarks.
add_custom_target(sfumato_installed DEPENDS ${modules} sfumato_cli)
