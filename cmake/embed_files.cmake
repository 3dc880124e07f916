# Writes a source that returns the bytes of files, by functions in namespace cableway: page.html becomes
# std::string_view page_html(). Run as a script: cmake -DOUT=<source> -DHEADER=<its header> -DFILES=<files> -P this.
set(source "// Made by cmake/embed_files.cmake.\n#include \"${HEADER}\"\n\nnamespace cableway {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(REPLACE "." "_" name ${name})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND source "std::string_view ${name}() {\n"
                       "  static constexpr unsigned char kBytes[] = {${bytes}};\n"
                       "  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};\n}\n")
endforeach()
file(WRITE ${OUT} "${source}}  // namespace cableway\n")
