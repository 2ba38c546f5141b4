/* SPDX-License-Identifier: Apache-2.0 */
#include "blas.h"

#include <stdarg.h>
#include <stdio.h>

axle_status blas_fail(axle_error *error, axle_status code, const char *format, ...)
{
    if (!error)
        return code;
    error->code = code;
    if (error->message && error->message_capacity > 0) {
        va_list list;
        va_start(list, format);
        vsnprintf(error->message, error->message_capacity, format, list);
        va_end(list);
    }
    return code;
}
