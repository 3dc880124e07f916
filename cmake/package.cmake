# The package: cableway-<version>-linux-<arch>.tar.gz with lib/, bin/ and share/doc/. It contains the abseil, ISA-L, libnl
# and libsodium libraries that it needs, found through DT_RPATH: docs/decisions/0002-how-abseil-travels.md explains why.
set(cableway_shipped nccl-net-cableway cablewayd cableway collperf)

# --disable-new-dtags: DT_RUNPATH, the default, does not apply to indirect dependencies.
set_target_properties(${cableway_shipped} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")
foreach(target IN LISTS cableway_shipped)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()
install(TARGETS ${cableway_shipped} RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
install(FILES LICENSE CHANGELOG.md docs/settings.md DESTINATION share/doc/cableway)
configure_file(tools/cablewayd/cablewayd.service.in ${CMAKE_BINARY_DIR}/cablewayd.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cablewayd.service DESTINATION lib/systemd/system)
install(FILES tools/cablewayd/sysusers.conf DESTINATION lib/sysusers.d RENAME cableway.conf)

get_target_property(cableway_absl_library absl::status LOCATION)
cmake_path(GET cableway_absl_library PARENT_PATH cableway_absl_folder)
cmake_path(GET CABLEWAY_SODIUM PARENT_PATH cableway_sodium_folder)
cmake_path(GET CABLEWAY_ISAL PARENT_PATH cableway_isal_folder)
# The folder of the library itself, with links resolved: in the sysroot, libnl's links are in another folder.
file(REAL_PATH ${CABLEWAY_LIBNL_LIBRARY} cableway_libnl_library)
cmake_path(GET cableway_libnl_library PARENT_PATH cableway_libnl_folder)
install(CODE "set(READELF \"${CMAKE_READELF}\")
set(LIBRARY_FOLDERS \"${cableway_absl_folder}\" \"${cableway_isal_folder}\" \"${cableway_libnl_folder}\"
                    \"${cableway_sodium_folder}\")
set(COPYRIGHT_FOLDER \"${CMAKE_SYSROOT}/usr/share/doc\")")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/install_libraries.cmake)

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(cableway_arch arm64)
else()
  set(cableway_arch ${CMAKE_SYSTEM_PROCESSOR})
endif()
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME cableway-${PROJECT_VERSION}-linux-${cableway_arch})
set(CPACK_STRIP_FILES TRUE)
set(CPACK_VERBATIM_VARIABLES TRUE)
include(CPack)
