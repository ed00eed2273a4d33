# The program linked statically: one file that runs on any Linux of the architecture, whatever is installed there. It is
# linked from the objects of the ordinary one. Its own definitions (host/standalone) come before those of the archives:
# it cannot load AscendCL, and does without the libraries of which the distribution has no archive.
set(reason "")
foreach(name sqlite3 yaml z)
    find_library(TDC_ARCHIVE_${name} lib${name}.a)
    if(NOT TDC_ARCHIVE_${name})
        string(APPEND reason " lib${name}.a")
    endif()
endforeach()
foreach(name sleef xlsxwriter)
    find_library(TDC_ARCHIVE_${name} lib${name}.a)
endforeach()
# gcc alone has its OpenMP runtime as an archive
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fopenmp -static")
check_c_source_compiles("#include <omp.h>\nint main(void) { return omp_get_max_threads() == 0; }" TDC_LINKS_STATICALLY)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT TDC_LINKS_STATICALLY)
    string(APPEND reason " the C library's and OpenMP's")
endif()
if(reason OR TDC_SANITIZE OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    if(TDC_STATIC_PROGRAM)
        message(FATAL_ERROR "TDC_STATIC_PROGRAM: archives are missing:${reason}")
    endif()
    return()
endif()

set(own ${PROJECT_SOURCE_DIR}/host/standalone/loader_none.c)
if(NOT TDC_ARCHIVE_sleef)
    list(APPEND own ${PROJECT_SOURCE_DIR}/host/standalone/vector_libm.c)
endif()
if(NOT TDC_ARCHIVE_xlsxwriter)
    list(APPEND own ${PROJECT_SOURCE_DIR}/host/standalone/rival_xlsx_none.c)
endif()
set(archives tdc_bench tdc_terminal tdcmp_static tdc_reference)
add_executable(tdcmp_standalone ${PROJECT_SOURCE_DIR}/host/program/main.c ${PROJECT_SOURCE_DIR}/host/program/watched.c
               $<TARGET_OBJECTS:tdc_commands> ${own})
# Not called tdcmp before it is installed: Ninja would take it for the target of that name.
set_target_properties(tdcmp_standalone PROPERTIES OUTPUT_NAME tdcmp-static)
# By file and not by target, which would bring the shared libraries along.
target_link_libraries(tdcmp_standalone PRIVATE tdc_flags -Wl,--start-group)
foreach(archive ${archives})
    target_link_libraries(tdcmp_standalone PRIVATE $<TARGET_FILE:${archive}>)
endforeach()
target_link_libraries(tdcmp_standalone PRIVATE ${TDC_ARCHIVE_sqlite3} ${TDC_ARCHIVE_yaml} ${TDC_ARCHIVE_z} -Wl,--end-group
                      $<$<BOOL:${TDC_ARCHIVE_sleef}>:${TDC_ARCHIVE_sleef}>
                      $<$<BOOL:${TDC_ARCHIVE_xlsxwriter}>:${TDC_ARCHIVE_xlsxwriter}> -fopenmp -pthread m)
target_link_options(tdcmp_standalone PRIVATE -static -Wl,--wrap=dlopen)
add_dependencies(tdcmp_standalone ${archives})
if(NOT TDC_STATIC_PROGRAM AND NOT TDC_TESTS)
    set_target_properties(tdcmp_standalone PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
