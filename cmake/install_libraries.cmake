# Runs at install time, after the programs are in place: copies the abseil libraries that they need, directly or through
# each other, and libsodium into lib/, and into share/doc/ the notices that travel with what is compiled in.
# READELF, ABSEIL_FOLDER, SODIUM_FOLDER and COPYRIGHT_FOLDER come from package.cmake. readelf and not ldd, so that a cross
# build can too.
cmake_policy(VERSION 3.25)
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
file(GLOB pending "${root}/bin/*" "${root}/lib/lib*.so")
set(copied "")
while(pending)
  list(POP_FRONT pending binary)
  execute_process(COMMAND "${READELF}" -d "${binary}" OUTPUT_VARIABLE dynamic ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  # Finds what it NEEDs, and a library's own SONAME, which is in <copied> already.
  string(REGEX MATCHALL "lib(absl_[A-Za-z0-9_]+|sodium)\\.so[.0-9]*" needed "${dynamic}")
  foreach(name IN LISTS needed)
    if(NOT name IN_LIST copied)
      set(folder "${ABSEIL_FOLDER}")
      if(name MATCHES "^libsodium")
        set(folder "${SODIUM_FOLDER}")
      endif()
      file(REAL_PATH "${folder}/${name}" source)
      file(INSTALL "${source}" DESTINATION "${root}/lib" RENAME "${name}")
      list(APPEND copied "${name}")
      list(APPEND pending "${root}/lib/${name}")
    endif()
  endforeach()
endwhile()

foreach(package libabsl-dev libcli11-dev libfmt-dev libsodium-dev libspdlog-dev libtomlplusplus-dev nlohmann-json3-dev)
  if(EXISTS "${COPYRIGHT_FOLDER}/${package}/copyright")
    file(INSTALL "${COPYRIGHT_FOLDER}/${package}/copyright" DESTINATION "${root}/share/doc/cableway/third_party"
         RENAME "${package}.copyright")
  endif()
endforeach()
