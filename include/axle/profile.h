/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file profile.h
 * Where the time goes: a trace of every operator, transfer, allocation and phase of training, and
 * sums over it.
 *
 *     axle_profile_start("run.json");
 *     ... train ...
 *     axle_profile_stop();
 *
 * The file is a Chrome trace for chrome://tracing or https://ui.perfetto.dev. AXLE_HOOK=trace does
 * the same for a program as it is, from its first device to axle_finalize(), and writes
 * AXLE_TRACE_FILE.
 */
#ifndef AXLE_PROFILE_H
#define AXLE_PROFILE_H

#include "axle/types.h"

AXLE_BEGIN_DECLS

/**
 * Begin a trace, and sums from 0. Not while operators run on other threads.
 * @param path  file to write, anew; "%p" in it is the process's number, which is added where
 *              another process writes that file. NULL is AXLE_TRACE_FILE.
 * @return AXLE_OK; AXLE_ERR_STATE where a trace is being written, AXLE_ERR_IO, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_profile_start(const char *path);

/** File of the trace under way, or of the last one; "" before. It may have the process's number in
 * it, where several processes were to write one. Borrowed until the next axle_profile_start(). */
AXLE_API const char *axle_profile_path(void);

/** End it: wait for what is under way, and finish the file. AXLE_ERR_IO where it could not be
 * written to its end. Without a trace nothing happens. */
AXLE_API int axle_profile_stop(void);

/**
 * Sums over the trace under way, or the last one, as a JSON object. Its members operators,
 * fallbacks, transfers, memory, collectives and phases are arrays, the longest first, of objects
 * with name, backend (but for phases), count, seconds, share (of the array's seconds) and bytes.
 * Phases lie around the rest, so seconds of different arrays are not to be added.
 * @param out  a string for axle_free().
 * @return AXLE_OK, AXLE_ERR_INVALID, AXLE_ERR_NOMEM.
 */
AXLE_API int axle_profile_summary(char **out);

AXLE_END_DECLS

#endif
