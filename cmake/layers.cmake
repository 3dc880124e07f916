# The layers and what each may use: the one place where the allowed arrows are written. A target that links against more
# does not configure; tests/layering reads this table and fails on an #include that reaches further.
# A layer's folder is its name with the first "_linux" read as "/linux": core_linux is core/linux.
set(CABLEWAY_LAYER_routing "")
set(CABLEWAY_LAYER_core "routing")
set(CABLEWAY_LAYER_core_linux "routing;core")
set(CABLEWAY_LAYER_nccl_adapter "routing;core;core_linux")
set(CABLEWAY_LAYER_sim "routing;core")
set(CABLEWAY_LAYER_tools "routing;core;core_linux;nccl_adapter;sim")

set(CABLEWAY_LIBRARY_LAYERS routing core core_linux nccl_adapter sim)

# cableway_layer(<layer> SOURCES <files> [LIBRARIES <external libraries>] [LAYERS <layers it uses>])
# Makes the static library cableway_<layer>.
function(cableway_layer layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LAYERS" ${ARGN})
  add_library(cableway_${layer} STATIC ${ARG_SOURCES})
  target_include_directories(cableway_${layer} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(cableway_${layer} PRIVATE cableway_warnings PUBLIC ${ARG_LIBRARIES})
  foreach(used IN LISTS ARG_LAYERS)
    cableway_refuse_link(${layer} ${used})
    target_link_libraries(cableway_${layer} PUBLIC cableway_${used})
  endforeach()
endfunction()

function(cableway_refuse_link layer used)
  if(NOT used IN_LIST CABLEWAY_LAYER_${layer})
    message(FATAL_ERROR "layer ${layer} may not use layer ${used}: see cmake/layers.cmake")
  endif()
endfunction()

# Looks at what each layer links against however it came to: LIBRARIES, or target_link_libraries after the fact.
function(cableway_check_links)
  foreach(layer IN LISTS CABLEWAY_LIBRARY_LAYERS)
    if(TARGET cableway_${layer})
      get_target_property(linked cableway_${layer} LINK_LIBRARIES)
      foreach(used IN LISTS CABLEWAY_LIBRARY_LAYERS)
        if(cableway_${used} IN_LIST linked)
          cableway_refuse_link(${layer} ${used})
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL cableway_check_links)
