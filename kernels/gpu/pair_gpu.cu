/* pair_gpu.cu - the kernels as one program of CUDA C, for nvcc. */
#include "dialect_cuda.h"
#include "lane_layout.h"
#include "decode_bits.h"
#include "pair_lanes.h"
#include "join_lanes.h"
