/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building networks under the names of the original. A path such as "attention.self.query" makes
 * the modules in between where they are not there. The status sticks: once a step fails, the rest
 * change nothing and give NULL.
 *
 * Parameters are made without drawing numbers; axle__initialise() gives them values, since most
 * networks get theirs from files.
 */
#ifndef AXLE_MODELS_TRANSFORMERS_BUILD_H
#define AXLE_MODELS_TRANSFORMERS_BUILD_H

#include "architecture.h"

struct axle__builder {
    int status;
};

/* Module of a path below `parent`; an empty path is the parent itself. */
axle_module *axle__build_folder(axle__builder *b, axle_module *parent, const char *path);
/* Hang a module, which is taken over, below `parent`; `status` is that of making it. Borrowed. */
axle_module *axle__build_place(axle__builder *b, axle_module *parent, const char *path, int status,
                               axle_module *made);

axle_module *axle__build_linear(axle__builder *b, axle_module *parent, const char *path, int64_t in,
                                int64_t out);
axle_module *axle__build_norm(axle__builder *b, axle_module *parent, const char *path,
                              int64_t features, double eps);
axle_module *axle__build_embedding(axle__builder *b, axle_module *parent, const char *path,
                                   int64_t count, int64_t features, int64_t padding);
/* A module of a class, as large as its instances. */
axle_module *axle__build_module(axle__builder *b, axle_module *parent, const char *path,
                                const axle_module_class *type);
/* A parameter of zeros. Borrowed. */
axle_tensor *axle__build_parameter(axle__builder *b, axle_module *parent, const char *name,
                                   int rank, const int64_t *dims);

/* A product whose weight is stored as (in, out), with a bias. */
axle_module *axle__build_turned(axle__builder *b, axle_module *parent, const char *path, int64_t in,
                                int64_t out);

/* x . weight^T, with the weight of another module, or one of its own where it is NULL. */
axle_module *axle__build_unbiased(axle__builder *b, axle_module *parent, const char *path,
                                  int64_t in, int64_t out, axle_tensor *weight);
/* x . weight^T + bias, with parameters that others hold, too; its own where they are NULL. */
axle_module *axle__build_projection(axle__builder *b, axle_module *parent, const char *path,
                                    int64_t in, int64_t out, axle_tensor *weight,
                                    axle_tensor *bias);

#endif
