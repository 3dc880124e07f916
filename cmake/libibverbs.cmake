# libibverbs::headers only: core/linux/rdma/verbs_library.h loads the library at run time.
find_path(CABLEWAY_IBVERBS_INCLUDE infiniband/verbs.h REQUIRED)
mark_as_advanced(CABLEWAY_IBVERBS_INCLUDE)
add_library(libibverbs::headers INTERFACE IMPORTED GLOBAL)
set_target_properties(libibverbs::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${CABLEWAY_IBVERBS_INCLUDE})
