# Every target of ours compiles clean under these; the headers of others are SYSTEM and exempt.
add_library(cableway_warnings INTERFACE)
target_compile_options(cableway_warnings INTERFACE -Wall -Wextra -Werror
                                                   $<$<COMPILE_LANGUAGE:CXX>:-Wshadow -Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees these four in its own std::string and std::vector once they are inlined. AddressSanitizer sees real ones.
  target_compile_options(cableway_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                     -Wno-stringop-overread)
  if(CMAKE_UNITY_BUILD)
    # A source that another one includes looks like a header to g++.
    target_compile_options(cableway_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  if(CABLEWAY_SANITIZE)
    # What the sanitizers insert hides from g++ 12 that a variable is set.
    target_compile_options(cableway_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# For the whole tree, since one object built without a sanitizer hides what the others would report.
if(CABLEWAY_SANITIZE)
  add_compile_options(-fsanitize=${CABLEWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CABLEWAY_SANITIZE})
  if(CABLEWAY_SANITIZE STREQUAL "thread")
    # ThreadSanitizer does not understand bare fences, and g++ says so. Asio's are the only ones, and it does without.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
