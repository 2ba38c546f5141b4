/* SPDX-License-Identifier: Apache-2.0 */
/* The labels that stand in a field of a set of labels. */
#ifndef AXLE_MODELS_TEXT_LABEL_FIELDS_H
#define AXLE_MODELS_TEXT_LABEL_FIELDS_H

#include "rows.h"

/* Returns AXLE_OK or a recorded error, which ends the loop. */
typedef int (*label_item_fn)(const char *name, void *user);

/* Call the function for each label of a row's field: a JSON array of texts or whole numbers, or a
 * list with separators; spaces around labels do not count. */
int axle__label_field_each(const text_rows *rows, int64_t row, char separator, label_item_fn fn,
                           void *user);

#endif
