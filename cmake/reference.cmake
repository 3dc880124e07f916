# Installs the manual pages and shell completions that tools/reference writes to share/ in the build folder.
foreach(folder man bash-completion/completions fish/vendor_completions.d)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/${folder}/ DESTINATION share/${folder})
endforeach()
# Debian's zsh reads completions of packages, below /usr, in a folder of its own. Elsewhere, as in /usr/local, it is that
# of other systems.
install(CODE "
if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
  set(zsh_folder vendor-completions)
else()
  set(zsh_folder site-functions)
endif()
file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share/zsh/\${zsh_folder}\" TYPE DIRECTORY
     FILES \"${CMAKE_BINARY_DIR}/share/zsh/site-functions/\")")
