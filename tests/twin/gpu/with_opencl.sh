#!/bin/sh
# with_opencl.sh TEST_GPU COMMAND...: runs the command where there is an OpenCL device, else says so and ends with 77.
"$1" --probe || exit 77
shift
exec "$@"
