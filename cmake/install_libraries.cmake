# Runs at install time, after the programs are in place: copies the libraries that they need, directly or indirectly,
# into lib/cableway, and the copyright notices of compiled-in libraries into share/doc/. READELF, LIBRARY_FOLDERS and
# COPYRIGHT_FOLDER come from package.cmake. Uses readelf instead of ldd: it works in a cross build.
cmake_policy(VERSION 3.25)
# file(INSTALL) puts DESTDIR before its destination itself.
set(home "${CMAKE_INSTALL_PREFIX}/lib/cableway")
set(folder "$ENV{DESTDIR}${home}")
file(GLOB pending "${folder}/*")
set(copied "")
while(pending)
  list(POP_FRONT pending binary)
  execute_process(COMMAND "${READELF}" -d "${binary}" OUTPUT_VARIABLE dynamic ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  # Matches the NEEDED libraries, and a library's own SONAME, which is in <copied> already.
  string(REGEX MATCHALL "lib(absl_[A-Za-z0-9_]+|isal|nl-3|nl-[a-z]+-3|sodium)\\.so[.0-9]*" needed "${dynamic}")
  foreach(name IN LISTS needed)
    if(NOT name IN_LIST copied)
      find_file(source "${name}" PATHS ${LIBRARY_FOLDERS} NO_CACHE NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
      file(REAL_PATH "${source}" source)
      file(INSTALL "${source}" DESTINATION "${home}" RENAME "${name}")
      unset(source)
      list(APPEND copied "${name}")
      list(APPEND pending "${folder}/${name}")
    endif()
  endforeach()
endwhile()

foreach(package libabsl-dev libboost-dev libcli11-dev libfmt-dev libisal-dev libnl-3-dev libsodium-dev libspdlog-dev
                libstdc++6 libtomlplusplus-dev nlohmann-json3-dev)
  if(EXISTS "${COPYRIGHT_FOLDER}/${package}/copyright")
    file(INSTALL "${COPYRIGHT_FOLDER}/${package}/copyright" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/doc/cableway/third_party"
         RENAME "${package}.copyright")
  endif()
endforeach()
