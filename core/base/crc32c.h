/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C (Castagnoli; RFC 3720, appendix B.4): checksums of files, against accidents. Processors
 * have an instruction for it, so that it costs less than copying what it is taken of.
 */
#ifndef AXLE_BASE_CRC32C_H
#define AXLE_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Start with 0; to go on from earlier bytes, pass their checksum as `before`. */
uint32_t axle__crc32c(uint32_t before, const void *data, size_t size);
/* The same without the instruction. */
uint32_t axle__crc32c_plain(uint32_t before, const void *data, size_t size);

#endif
