/* SPDX-License-Identifier: Apache-2.0 */
/* What axle_finalize() runs before devices close: layers above the devices let go of what they
 * hold. */
#ifndef AXLE_BASE_FINALIZE_H
#define AXLE_BASE_FINALIZE_H

/* Call `fn` at the next axle_finalize(), the last registered first. Registering it twice is once.
 * AXLE_ERR_INTERNAL where the small table is full. */
int axle__finalize_register(void (*fn)(void));
/* Run and forget what is registered. */
void axle__finalize_run(void);

#endif
