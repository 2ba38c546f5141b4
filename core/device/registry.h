/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: backends that were looked at, with what came of it, and open devices. A backend
 * that was rejected keeps its reason, so that it is told again and the file is not opened twice.
 * Functions here are called with the registry's lock held, except where they say otherwise.
 */
#ifndef AXLE_DEVICE_REGISTRY_H
#define AXLE_DEVICE_REGISTRY_H

#include "base/list.h"
#include "device/device.h"

typedef struct axle__backend {
    struct axle__backend *next;
    char *name, *path;         /* path is NULL for the built-in one */
    const axle_plugin *plugin; /* NULL where it was rejected */
    int code;                  /* why it was rejected */
    char *reason;              /* completes "it ..." */
    char *findings;            /* what the plugin met, a line each; NULL for nothing */
    bool broken;               /* it crashed or hung */
    int32_t score;
    uint32_t device_count;
    axle_device_info *devices;
} axle__backend;

#define AXLE__REFERENCE "reference"

void axle__registry_lock(void);
void axle__registry_unlock(void);

/* The backend of a name, or of a path where `path` is not NULL: found among those seen, else
 * loaded. AXLE_OK for a rejected one, too; AXLE_ERR_NOT_FOUND where there is no such file (records
 * nothing). */
int axle__registry_find(const char *name, const char *path, axle__backend **out);
/* Load all backends of the search path but those named in `skip`, and return them and the built-in
 * one: best first, those rejected last. The array is for axle__free(). */
int axle__registry_all(const axle__list *skip, axle__backend ***out, size_t *count);
/* The same of all, and of those that were loaded by path or that AXLE_BACKEND names so. */
int axle__registry_known(axle__backend ***out, size_t *count);
/* Warn once of AXLE_OPTIONS for backends that are not there. */
void axle__registry_check_options(void);
/* Open device `index` of a backend that was not rejected, or find it open. */
int axle__registry_open(axle__backend *backend, uint32_t index, axle_device **out);

/* Find and open what a specification names; see axle/device.h for its grammar. */
int axle__select(const char *spec, axle_device **out);
/* Names of all backends, loaded or not. */
int axle__select_names(axle__list *out);
/* Load the backends that a specification names by path, as far as they are there. */
void axle__select_load_paths(const char *spec);
/* This process is that number among those of its host, from 0: where several GPUs serve alike, each
 * process takes one of its own. */
void axle__select_for_process(int number);

/* Make a device of a backend (device.c), and close it. */
int axle__device_create(const axle__backend *backend, uint32_t index, axle_device **out);
void axle__device_destroy(axle_device *device);

#endif
