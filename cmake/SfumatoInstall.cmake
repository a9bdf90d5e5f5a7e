# find_package(sfumato) for users of the installed tree: one imported target sfumato::NAME per module.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sfumato")
install(EXPORT sfumatoTargets NAMESPACE sfumato:: DESTINATION "${package_dir}")
if(NOT MPI_CXX_FOUND)
  set(MPI_CXX_FOUND FALSE)
endif()
configure_package_config_file(cmake/sfumatoConfig.cmake.in "${PROJECT_BINARY_DIR}/sfumatoConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
# Interfaces may change with each minor version until 1.0.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sfumatoConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sfumatoConfig.cmake"
              "${PROJECT_BINARY_DIR}/sfumatoConfigVersion.cmake" DESTINATION "${package_dir}")
install(FILES LICENSE CITATION.cff DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Everything that `cmake --install` copies, without tests and benchmarks.
get_property(modules GLOBAL PROPERTY SFUMATO_MODULES)
add_custom_target(sfumato_installed DEPENDS ${modules} sfumato_cli)
