# What `cmake --install` puts where. Paths follow GNUInstallDirs.
if(NOT PROJECT_IS_TOP_LEVEL)
    return() # a part of another project, which installs what it wants of it
endif()
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tdcmp)
foreach(kind shared static)
    string(TOUPPER ${kind} option)
    if(TDC_${option})
        install(TARGETS tdcmp_${kind} EXPORT tdcmp-${kind}
                ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
        install(EXPORT tdcmp-${kind} NAMESPACE tdcmp:: DESTINATION ${config_folder})
    endif()
endforeach()
configure_package_config_file(cmake/tdcmp-config.cmake.in ${PROJECT_BINARY_DIR}/tdcmp-config.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tdcmp-config-version.cmake
                                 VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tdcmp-config.cmake ${PROJECT_BINARY_DIR}/tdcmp-config-version.cmake
        DESTINATION ${config_folder})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documents)
install(FILES include/tdcmp.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/tdcmp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# The file finds the prefix from where it lies: whatever `cmake --install --prefix` says, and wherever the tree is moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(TDC_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(TDC_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(kind LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
        set(TDC_PC_${kind} "${CMAKE_INSTALL_${kind}}")
    else()
        set(TDC_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
    endif()
endforeach()
configure_file(cmake/tdcmp.pc.in ${PROJECT_BINARY_DIR}/tdcmp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tdcmp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Python package has a copy of the library beside its modules (pyproject.toml), and of the libraries that it needs: a
# wheel runs where none of them is installed. Distributions have these as shared libraries alone, or as archives that a
# shared library cannot take in (Debian: all but libyaml's).
if(SKBUILD AND TDC_SHARED)
    set_target_properties(tdcmp_shared PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
    install(FILES $<TARGET_FILE:tdcmp_shared> RENAME libtdcmp.so DESTINATION tdcmp COMPONENT python)
    install(CODE [[
        file(GET_RUNTIME_DEPENDENCIES LIBRARIES "$<TARGET_FILE:tdcmp_shared>" RESOLVED_DEPENDENCIES_VAR needed
             PRE_INCLUDE_REGEXES "^lib(sleef|sqlite3|yaml|gomp|omp|z)[-.]" PRE_EXCLUDE_REGEXES ".*")
        foreach(library IN LISTS needed)
            get_filename_component(name "${library}" NAME)
            get_filename_component(library "${library}" REALPATH)
            file(INSTALL "${library}" DESTINATION "${CMAKE_INSTALL_PREFIX}/tdcmp" RENAME "${name}")
        endforeach()]] COMPONENT python)
endif()

if(NOT TDC_PROGRAM)
    return()
endif()
# The components are what scripts/package.sh makes its packages of; all of them are installed by default, but of the two
# forms of the program one.
if(TARGET tdcmp_standalone)
    if(NOT TDC_STATIC_PROGRAM)
        set(unless_asked EXCLUDE_FROM_ALL)
    endif()
    install(PROGRAMS $<TARGET_FILE:tdcmp_standalone> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME tdcmp
            COMPONENT standalone ${unless_asked})
endif()
if(NOT TDC_STATIC_PROGRAM)
    install(TARGETS tdcmp RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES host/cli/man/tdcmp.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT documents)
install(FILES host/cli/completion/tdcmp.bash RENAME tdcmp
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT documents)
install(FILES host/cli/completion/_tdcmp DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT documents)
install(FILES host/cli/completion/tdcmp.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT documents)
