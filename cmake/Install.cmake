# What `cmake --install` puts where. Paths follow GNUInstallDirs.
install(TARGETS tdcmp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tdcmp_static tdcmp_shared
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/tdcmp.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/tdcmp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# Relative folders hang on the prefix, so that `pkg-config --define-prefix` can move the tree.
foreach(kind LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
        set(TDC_PC_${kind} "${CMAKE_INSTALL_${kind}}")
    else()
        set(TDC_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    endif()
endforeach()
configure_file(cmake/tdcmp.pc.in ${PROJECT_BINARY_DIR}/tdcmp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tdcmp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES host/cli/man/tdcmp.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES host/cli/completion/tdcmp.bash RENAME tdcmp
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES host/cli/completion/_tdcmp DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES host/cli/completion/tdcmp.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
