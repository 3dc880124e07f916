# cableway_command_line(<sources>): compiles sources that parse a command line without optimisation and outside unity
# builds. Their speed does not matter, and optimising CLI11's templates takes longer than any other source.
function(cableway_command_line)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0 SKIP_UNITY_BUILD_INCLUSION TRUE)
endfunction()
