# The kernels for Ascend cards, built by an installed CANN: kernels/ascend once per SoC, installed beside the
# library, where it looks for them by the name the driver gives (docs/ascend.md).
include(ExternalProject)
set(TDC_SOC "Ascend910B3" CACHE STRING "SoCs to build kernels for: the name of npu-smi info with Ascend in front")
set(TDC_CANN_BUILD "auto" CACHE STRING "language (bisheng directly), project (the vendor's CMake) or auto")
set(kernel_prefix ${PROJECT_BINARY_DIR}/ascend)
foreach(soc ${TDC_SOC})
    ExternalProject_Add(tdc_kernels_${soc}
        SOURCE_DIR ${PROJECT_SOURCE_DIR}/kernels/ascend
        BINARY_DIR ${PROJECT_BINARY_DIR}/ascend_${soc}
        INSTALL_DIR ${kernel_prefix}
        CMAKE_ARGS -DTDC_SOC=${soc} -DTDC_CANN_BUILD=${TDC_CANN_BUILD} -DCMAKE_INSTALL_PREFIX=${kernel_prefix}
        BUILD_ALWAYS TRUE)
endforeach()
install(DIRECTORY ${kernel_prefix}/lib/tdcmp DESTINATION ${CMAKE_INSTALL_LIBDIR})
