/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files that are being written: "PATH.PID.tmp", so that processes do not meet and that
 * what a killed one left behind is known for that.
 */
#ifndef AXLE_COMMON_TEMPORARY_H
#define AXLE_COMMON_TEMPORARY_H

/* This process's name for what will be called `path`, to be freed; what dead processes of this
 * machine left under such names of the same path is removed. NULL: out of memory. */
char *temporary_name(const char *path);

#endif
