# libnl::nl, the netlink library. Found by file, since the cross build has no pkg-config for its sysroot.
find_path(CABLEWAY_LIBNL_INCLUDE netlink/netlink.h PATH_SUFFIXES libnl3 REQUIRED)
find_library(CABLEWAY_LIBNL_LIBRARY nl-3 REQUIRED)
mark_as_advanced(CABLEWAY_LIBNL_INCLUDE CABLEWAY_LIBNL_LIBRARY)
add_library(libnl::nl SHARED IMPORTED GLOBAL)
set_target_properties(libnl::nl PROPERTIES
  IMPORTED_LOCATION ${CABLEWAY_LIBNL_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${CABLEWAY_LIBNL_INCLUDE})
