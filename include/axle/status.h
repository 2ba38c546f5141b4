/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file status.h
 * Errors, log, version, and the end of the library.
 *
 * The error rule, stated once for all of Axle:
 *
 *  - **Operators** (functions that return `axle_tensor *`) return NULL on error and on NULL input.
 *  - **Everything else** returns `int`: AXLE_OK or a negative AXLE_ERR_*. Results go through the
 * last parameter, which is untouched on failure.
 *  - The first error of a thread is recorded with a message that holds the values, and stays until
 *    axle_error_clear(). So arithmetic nests, and one check at the end is enough:
 *
 *        axle_tensor *y = axle_relu(axle_linear(x, weight, bias));
 *        if (!y) { fprintf(stderr, "%s\n", axle_error_message()); axle_error_clear(); }
 *
 * The library never prints (but through the log callback), exits or aborts.
 */
#ifndef AXLE_STATUS_H
#define AXLE_STATUS_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

/** Code of this thread's recorded error; AXLE_OK if there is none. */
AXLE_API int axle_error_code(void);

/** Message of this thread's recorded error, "" if there is none. Valid until the next call of Axle.
 */
AXLE_API const char *axle_error_message(void);

/** Forget this thread's recorded error. */
AXLE_API void axle_error_clear(void);

/**
 * Record an error, unless one is recorded already: for code that extends Axle.
 * @return @p code, so that `return axle_error_set(...)` reads well.
 */
AXLE_API int axle_error_set(int code, const char *format, ...) AXLE_PRINTF(2, 3);

/** Short text of a status code; never NULL. */
AXLE_API const char *axle_status_text(int code);

/** Name of an element type, "f32"; NULL if there is no such type. */
AXLE_API const char *axle_dtype_name(int dtype);

/** Element type of a name; 0 if there is none. */
AXLE_API int axle_dtype_from_name(const char *name);

/** Bytes of an element; 0 if there is no such type. */
AXLE_API size_t axle_dtype_size(int dtype);

/** Whether a dtype is f32, f16, bf16 or f64. */
AXLE_API int axle_dtype_is_float(int dtype);

/** Called for each log line (without newline) at or above the level of AXLE_LOG; any thread. */
typedef void (*axle_log_fn)(int level, const char *component, const char *message, void *user);

/** Send log lines to @p fn instead of standard error; NULL restores that. */
AXLE_API void axle_log_redirect(axle_log_fn fn, void *user);

/** Lowest level that is logged: 0 debug, 1 info, 2 warn, 3 error. Overrides AXLE_LOG. */
AXLE_API void axle_log_set_level(int level);

/** Write a log line; level as in axle_log_set_level. */
AXLE_API void axle_log_write(int level, const char *component, const char *format, ...)
    AXLE_PRINTF(3, 4);

/** Version of the library that runs, "0.1.0". */
AXLE_API const char *axle_version(void);

/** Free memory that Axle handed out as a plain pointer. */
AXLE_API void axle_free(void *memory);

/**
 * Close devices and release caches. No Axle object may be used afterwards. Optional: a process may
 * just end.
 */
AXLE_API void axle_finalize(void);

AXLE_END_DECLS

#endif
