/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a shared object before the dynamic loader gets it. */
#ifndef AXLE_DEVICE_ELF_H
#define AXLE_DEVICE_ELF_H

/* AXLE_OK, or AXLE_ERR_FORMAT for a file that ends before what its headers promise: the loader
 * would map it and the process would die of SIGBUS. Other faults are left to the loader, which
 * tells them well. */
int axle__elf_check(const char *path);

#endif
