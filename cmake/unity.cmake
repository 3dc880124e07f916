# Unity builds (CMAKE_UNITY_BUILD) compile several sources of a target as one: the headers that they share are parsed once.
# All presets but `debug` use them for the product, and every build for the tests. In debug each source of the product is
# compiled by itself, which finds a missing include; CI leaves it out, as it takes six minutes.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ treats included sources as headers, and warns of their unnamed namespaces.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  # g++ bounds how much a large source grows by inlining. With the default bound, decoders are calls on the data path:
  # 7 % more instructions for a chunk (tools/bench.sh chunk).
  add_compile_options(--param=large-unit-insns=1000000)
endif()
