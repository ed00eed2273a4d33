# How the project's own sources are compiled: the rooms link tdc_flags, and nobody who uses the library does.
add_library(tdc_flags INTERFACE)
target_compile_definitions(tdc_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(tdc_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
    -Wvla -Wundef -fno-math-errno -fno-trapping-math -ffp-contract=off -fvisibility=hidden)
if(TDC_WERROR)
    target_compile_options(tdc_flags INTERFACE -Werror)
endif()
if(TDC_SANITIZE)
    target_compile_options(tdc_flags INTERFACE -fsanitize=${TDC_SANITIZE} -fno-omit-frame-pointer -g1)
    target_link_options(tdc_flags INTERFACE -fsanitize=${TDC_SANITIZE})
    if(TDC_SANITIZE MATCHES "undefined")
        target_compile_options(tdc_flags INTERFACE -fno-sanitize-recover=all)
    endif()
    if(TDC_SANITIZE MATCHES "undefined" AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
        target_compile_options(tdc_flags INTERFACE -Wno-pass-failed) # its checks keep loops from being vectorised
    endif()
    if(TDC_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # gcc 12's frames for finding uses after return are not aligned for vectors of 64 bytes
        set(TDC_WIDE_VECTOR_FLAGS --param=asan-use-after-return=0)
    endif()
endif()
if(TDC_FUZZ)
    # every room must report its coverage to the fuzzer, not the target alone
    target_compile_options(tdc_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(tdc_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
