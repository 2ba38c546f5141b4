/* SPDX-License-Identifier: Apache-2.0 */
/* Names that safetensors files give to element types. */
#ifndef AXLE_IO_SAFETENSORS_DTYPE_H
#define AXLE_IO_SAFETENSORS_DTYPE_H

/* The element type; 0 for a name that we do not know. */
int axle__safetensors_dtype(const char *name);
const char *axle__safetensors_dtype_name(int dtype);

/* Longest header that is believed, as everywhere else. */
#define AXLE__SAFETENSORS_HEADER_MAX 100000000u
#define AXLE__SAFETENSORS_METADATA "__metadata__"

#endif
