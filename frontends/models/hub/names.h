/* SPDX-License-Identifier: Apache-2.0 */
/* Names from elsewhere that become parts of paths and addresses. Nothing leaves its folder. */
#ifndef AXLE_MODELS_HUB_NAMES_H
#define AXLE_MODELS_HUB_NAMES_H

#include <stdbool.h>

/* "organisation/model" or "model". */
bool axle__hub_is_model(const char *name);
/* A relative path in which no part is empty, "." or "..". */
bool axle__hub_is_path(const char *path);
/* 40 hexadecimal digits in lower case. */
bool axle__hub_is_commit(const char *text);
/* 64 of them. */
bool axle__hub_is_sha256(const char *text);
/* Of letters, digits, '-' and '_', as it becomes the name of a file. */
bool axle__hub_is_etag(const char *text);
/* Percent-encoded but for letters, digits, "-._~" and, where `slashes`, '/'. To be freed. */
char *axle__hub_encode(const char *text, bool slashes);
/* Whether two addresses have scheme, host and port in common, as they are written. */
bool axle__hub_same_origin(const char *a, const char *b);

#endif
