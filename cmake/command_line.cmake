# cableway_command_line(<sources>): what reads a command line, once. Nobody waits for that, and to optimise CLI11's
# templates takes longer than anything else in the tree: so they are compiled without, each by itself.
function(cableway_command_line)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0 SKIP_UNITY_BUILD_INCLUSION TRUE)
endfunction()
