/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of a record in TensorFlow's record files: its length (u64) and that one's checksum
 * (u32), the bytes, and their checksum (u32), little endian. Checksums are CRC-32C, turned by 15
 * bits and moved by a constant. As https://www.tensorflow.org/tutorials/load_data/tfrecord has it.
 */
#ifndef AXLE_TRACK_RECORD_H
#define AXLE_TRACK_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum { RECORD_HEAD = 12, RECORD_TAIL = 4 };

/* Complete a buffer in which `size` bytes stand RECORD_HEAD behind its beginning, and RECORD_TAIL
 * more have room. */
void record_frame(uint8_t *buffer, size_t size);

#endif
