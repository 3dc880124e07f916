# What is installed: programs, plugin and libraries in lib/cableway, a folder that can be mounted into a container as it is, with links to it
# from bin/ and lib/. tools/package.sh makes packages of it. Reasons: docs/decisions/0002-how-abseil-travels.md, 0030-packages.md.
set(cableway_shipped nccl-net-cableway cablewayd cableway collperf)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/cableway.toml DEPENDS cablewayd
                   COMMAND cablewayd --sample-config > ${CMAKE_BINARY_DIR}/cableway.toml)
add_custom_target(shipped ALL DEPENDS ${cableway_shipped} reference ${CMAKE_BINARY_DIR}/cableway.toml)

# The plugin is opened in its folder, or through a link in lib/ or lib/<triplet>/, which the loader does not resolve: the
# folder of the link, with the system's libraries, comes last.
set(cableway_from_library "$ORIGIN/cableway;$ORIGIN/../cableway;$ORIGIN")
# The kernel has resolved a program's link.
set(cableway_from_program "$ORIGIN")
set_target_properties(${cableway_shipped} PROPERTIES INSTALL_RPATH "${cableway_from_program}")
set_target_properties(nccl-net-cableway PROPERTIES INSTALL_RPATH "${cableway_from_library}")
foreach(target IN LISTS cableway_shipped)
  # --disable-new-dtags: DT_RUNPATH, the default, does not apply to indirect dependencies.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  if(CABLEWAY_STATIC_ABSEIL)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  endif()
endforeach()
install(TARGETS ${cableway_shipped} RUNTIME DESTINATION lib/cableway LIBRARY DESTINATION lib/cableway)
install(FILES LICENSE CHANGELOG.md docs/guide.md docs/metrics.md docs/settings.md ${CMAKE_BINARY_DIR}/cableway.toml
        DESTINATION share/doc/cableway)
install(FILES docs/grafana/cableway.json DESTINATION share/doc/cableway/grafana)
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
set(COPYRIGHT_FOLDER \"${CMAKE_SYSROOT}/usr/share/doc\")
set(UNIT \"${PROJECT_SOURCE_DIR}/tools/cablewayd/cablewayd.service.in\")")
install(SCRIPT cmake/install_libraries.cmake)
install(SCRIPT cmake/install_links.cmake)
