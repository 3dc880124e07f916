# Runs at install time, with UNIT from package.cmake: links bin/ and lib/ to lib/cableway, and writes the systemd unit for
# the folder of the installation.
cmake_policy(VERSION 3.25)
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
file(MAKE_DIRECTORY "${root}/bin")
foreach(program cableway cablewayd collperf)
  file(CREATE_LINK ../lib/cableway/${program} "${root}/bin/${program}" SYMBOLIC)
endforeach()
file(CREATE_LINK cableway/libnccl-net-cableway.so "${root}/lib/libnccl-net-cableway.so" SYMBOLIC)
configure_file("${UNIT}" "${root}/lib/systemd/system/cablewayd.service" @ONLY)
