# Every target of this project compiles without these warnings; third-party headers are SYSTEM and exempt.
add_library(cableway_warnings INTERFACE)
target_compile_options(cableway_warnings INTERFACE -Wall -Wextra -Werror
                                                   $<$<COMPILE_LANGUAGE:CXX>:-Wshadow -Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these four falsely in its own inlined std::string and std::vector. AddressSanitizer finds real ones.
  target_compile_options(cableway_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                     -Wno-stringop-overread)
  if(CABLEWAY_SANITIZE)
    # With sanitizer instrumentation, g++ 12 reports initialised variables falsely.
    target_compile_options(cableway_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# For the whole tree, since an object built without a sanitizer hides errors in the others.
if(CABLEWAY_SANITIZE)
  add_compile_options(-fsanitize=${CABLEWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CABLEWAY_SANITIZE})
  if(CABLEWAY_SANITIZE STREQUAL "thread")
    # ThreadSanitizer does not support fences, and g++ warns about them. Only Asio uses them, and it can do without.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
