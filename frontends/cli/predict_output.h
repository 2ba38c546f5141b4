/* SPDX-License-Identifier: Apache-2.0 */
/* What axle predict prints. */
#ifndef AXLE_CLI_PREDICT_OUTPUT_H
#define AXLE_CLI_PREDICT_OUTPUT_H

#include "pretrained.h"

/* A line with tabs: of one label its name and probability, of several those above one half with
 * bars between them, of a number that; then the text, or both.
 * @param logits  as many as the model has labels */
void predict_print_line(const pretrained *model, const char *text, const char *pair,
                        const float *logits);
/* The same as JSON, with the probabilities of all labels. AXLE_ERR_NOMEM. */
int predict_print_json(const pretrained *model, const char *text, const char *pair,
                       const float *logits);

#endif
