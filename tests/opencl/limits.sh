# SPDX-License-Identifier: Apache-2.0
#
# No buffer is larger than the device allows: what does not fit is refused with both sizes, the rest
# works. The limit is a small one, set by an option.
. "$top_srcdir/tests/opencl/support.sh"
has_backend opencl || skip_all 'there is no OpenCL device'

limited()
{
    AXLE_BACKEND=opencl AXLE_FALLBACK=error AXLE_OPTIONS=opencl.max_alloc=400000 "$AXLE" train --task image \
        --model mlp --quiet --max-steps 1 --no-eval "$@"
}

check 'axle info shows the limit' sh -c 'AXLE_OPTIONS=opencl.max_alloc=400000 "$AXLE" info --json |
    grep "\"largest_buffer_bytes\": 400000"'
check_fails 'a tensor beyond the largest buffer is refused with both sizes' \
    '[0-9.]* MiB asked for, but the device.s largest buffer is 0.38 MiB' limited --batch-size 512
check 'an option of no sense changes nothing' env AXLE_BACKEND=opencl AXLE_OPTIONS=opencl.max_alloc=much \
    "$AXLE" train --model mlp --quiet --max-steps 1 --no-eval
finish
