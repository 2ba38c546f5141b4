/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: into the caller's axle_error, or the host's log. */
#include "opencl.h"

#include <stdarg.h>
#include <stdio.h>

axle_status ocl_fail(axle_error *error, axle_status code, const char *format, ...)
{
    if (error && error->struct_size >= AXLE_FIELD_END(axle_error, code))
        error->code = code;
    if (AXLE_HAS(error, axle_error, message) && error->message_capacity > 0) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, error->message_capacity, format, args);
        va_end(args);
    }
    return code;
}

/* X(name, what it means here); other codes are AXLE_ERR_DEVICE. */
#define CL_CODES(X)                                                                                \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, AXLE_ERR_NOMEM)                                            \
    X(CL_OUT_OF_RESOURCES, AXLE_ERR_NOMEM)                                                         \
    X(CL_OUT_OF_HOST_MEMORY, AXLE_ERR_NOMEM)                                                       \
    X(CL_INVALID_BUFFER_SIZE, AXLE_ERR_NOMEM)                                                      \
    X(CL_BUILD_PROGRAM_FAILURE, AXLE_ERR_COMPILE)                                                  \
    X(CL_COMPILE_PROGRAM_FAILURE, AXLE_ERR_COMPILE)                                                \
    X(CL_DEVICE_NOT_AVAILABLE, AXLE_ERR_DEVICE_LOST)                                               \
    X(CL_INVALID_KERNEL_NAME, AXLE_ERR_INTERNAL)                                                   \
    X(CL_INVALID_ARG_SIZE, AXLE_ERR_INTERNAL)                                                      \
    X(CL_INVALID_KERNEL_ARGS, AXLE_ERR_INTERNAL)                                                   \
    X(CL_INVALID_WORK_GROUP_SIZE, AXLE_ERR_INTERNAL)

axle_status ocl_fail_cl(axle_error *error, cl_int code, const char *call)
{
    static const struct {
        cl_int code;
        axle_status status;
        const char *name;
    } known[] = {
#define ROW(name, status) {name, status, #name},
        CL_CODES(ROW)
#undef ROW
    };
    if (error && error->struct_size >= AXLE_FIELD_END(axle_error, native_code))
        error->native_code = code;
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        if (known[k].code == code)
            return ocl_fail(error, known[k].status, "opencl: %s: %s (%d)", call, known[k].name,
                            code);
    return ocl_fail(error, AXLE_ERR_DEVICE, "opencl: %s: error %d", call, code);
}

void ocl_log(int32_t level, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!AXLE_HAS(ocl_host, axle_host, log))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ocl_host->log(ocl_host->ctx, level, "opencl", text);
}
