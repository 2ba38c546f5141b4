/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints inside. Saving first captures a snapshot, the whole checkpoint in memory: a JSON
 * object and files of tensors or of bytes. Writing a snapshot touches nothing else, so a thread can
 * do it while training goes on. Loading first brings all files into the memory of every process,
 * then checks and stages every part, and only then applies them.
 *
 * What there is to save is a table of parts (checkpoint_parts.c): a new kind of state is one line
 * there and three functions.
 */
#ifndef AXLE_TRAIN_CHECKPOINT_H
#define AXLE_TRAIN_CHECKPOINT_H

#include <jansson.h>
#include <pthread.h>

#include "axle/checkpoint.h"
#include "axle/ema.h"
#include "base/list.h"
#include "io/module_state.h"
#include "train/accelerator.h"

#define AXLE__CHECKPOINT_STATE "state.json"
#define AXLE__CHECKPOINT_PREFIX "step-"

/* ------------------------------------------------------------------ snapshots */

/* A file of a checkpoint. */
typedef struct axle__snapshot_file {
    char *name;                  /* of tensors without .safetensors */
    bool raw;                    /* bytes, no tensors */
    unsigned char *data;         /* all of its bytes, or those of all tensors */
    size_t size;                 /* of data */
    axle__state_entries entries; /* of a model: owns the tensors' names */
    axle__list names;            /* of others: owns them */
    axle__safetensors_source *sources;
    axle__shard_content content;
} axle__snapshot_file;

/* Memory that is kept for the next snapshot. */
typedef struct axle__room {
    void *data;
    size_t size;
    bool taken;
} axle__room;

typedef struct axle__rooms {
    axle__room *at;
    size_t count;
} axle__rooms;

typedef struct axle__snapshot {
    json_t *state; /* what becomes state.json, but for the files */
    axle__snapshot_file *files;
    size_t count;
    axle__rooms *rooms; /* borrowed: where the files' memory comes from */
} axle__snapshot;

/* A new file; valid until the next one is added. `name` is for axle__free() and taken over, NULL is
 * AXLE_ERR_NOMEM. */
int axle__snapshot_add(axle__snapshot *snapshot, char *name, axle__snapshot_file **out);
/* Memory for a file's data. */
int axle__snapshot_room(axle__snapshot *snapshot, axle__snapshot_file *file, size_t size);
/* Give a file the tensors of `what`, whose values are still theirs: sources and content, with names
 * that the file owns. */
typedef int (*axle__collect_fn)(const void *what, axle__snapshot_file *file);
/* A new file of copies of these tensors. @param name  as in axle__snapshot_add(). */
int axle__snapshot_tensors(axle__snapshot *snapshot, char *name, axle__collect_fn collect,
                           const void *what);
void axle__snapshot_free(axle__snapshot *snapshot);
/* Let memory go that no snapshot has taken. */
void axle__rooms_free(axle__rooms *rooms);
/* Have memory of that size for a snapshot to come. */
int axle__rooms_reserve(axle__rooms *rooms, size_t size);
/* Have it for a file of tensors. */
int axle__rooms_reserve_tensors(axle__rooms *rooms, axle__collect_fn collect, const void *what);
/* Let the system find the pages of what is reserved, which takes longer than copying into them;
 * until *stop is set (atomic). */
void axle__rooms_touch(const axle__rooms *rooms, const int *stop);

/* Write it as the folder `path`. */
int axle__snapshot_write(axle__snapshot *snapshot, const char *path);

/* ------------------------------------------------------------------ parts */

/* Saving. All processes capture together, since parts may be spread over them. */
typedef struct axle__capture {
    axle_accelerator *accelerator;
    bool main;               /* this process writes */
    axle__snapshot snapshot; /* of the main process */
    int status;              /* the first error; parts that talk to others go on */
} axle__capture;

typedef struct axle__staged_model {
    axle__shards files;
    axle__state_entries entries;
} axle__staged_model;

/* The optimizer's moments, as this process holds them, one after the other. */
typedef struct axle__staged_moments {
    unsigned char *data;
} axle__staged_moments;

/* Loading. */
typedef struct axle__restore {
    axle_accelerator *accelerator;
    const char *path;
    const json_t *state;
    const axle__blob *files;
    size_t count;
    axle__staged_model *models;
    int model_count;
    axle__staged_moments *moments;
    int optimizer_count;
    axle__shards *averages;
    int average_count;
} axle__restore;

typedef struct axle__part {
    const char *name; /* member of state.json */
    /* Main process: *out is the member's value. Others: only what it takes together. */
    int (*capture)(axle__capture *capture, json_t **out);
    /* Whether it fits, and stage what is large. Nothing changes. */
    int (*check)(axle__restore *restore, const json_t *value);
    int (*apply)(axle__restore *restore, const json_t *value);
} axle__part;

extern const axle__part axle__parts[];
extern const int axle__part_count;

#define AXLE__PART(what)                                                                           \
    int axle__capture_##what(axle__capture *capture, json_t **out);                                \
    int axle__check_##what(axle__restore *restore, const json_t *value);                           \
    int axle__apply_##what(axle__restore *restore, const json_t *value);
AXLE__PART(custom)
AXLE__PART(models)
AXLE__PART(averages)
AXLE__PART(optimizers)
AXLE__PART(schedulers)
AXLE__PART(scaler)
AXLE__PART(loaders)
AXLE__PART(random)
#undef AXLE__PART
/* Reserve what capturing will take. */
int axle__reserve_models(const axle_accelerator *accelerator, axle__rooms *rooms);
int axle__reserve_optimizers(const axle_accelerator *accelerator, axle__rooms *rooms);
int axle__reserve_averages(const axle_accelerator *accelerator, axle__rooms *rooms);
void axle__unstage_models(axle__restore *restore);
void axle__unstage_averages(axle__restore *restore);
void axle__unstage_optimizers(axle__restore *restore);

/* The next prepared object of that type after place *at, which starts from 0; NULL at the end. */
axle_object *axle__next_prepared(const axle_accelerator *accelerator, uint32_t type, int *at);
/* Errors of what was read, with the checkpoint's name. */
int axle__restore_error(const axle__restore *restore, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As many of a kind as the program prepared. */
int axle__restore_check_count(const axle__restore *restore, const json_t *value, int count,
                              const char *what);
/* A file by name; NULL, and no error, where there is none. */
const axle__blob *axle__restore_file(const axle__restore *restore, const char *name);
int axle__json_failed(void);

/* ------------------------------------------------------------------ folders of checkpoints */

/* A checkpoint that was opened: its manifest, and its files, mapped. Starts zeroed. */
typedef struct axle__checkpoint_files {
    json_t *state;
    axle__blob *blobs;
    axle__file_map *maps;
    size_t count;
} axle__checkpoint_files;
/* Open a checkpoint and check sizes and sums of all that it consists of. */
int axle__checkpoint_open(const char *path, axle__checkpoint_files *out);
void axle__checkpoint_close(axle__checkpoint_files *files);
/* Its manifest alone. */
int axle__manifest_read(const char *path, json_t **out);
int axle__manifest_parse(const char *path, const char *text, size_t size, json_t **out);
/* The text of a manifest, with its own sum, for free(). */
char *axle__manifest_text(json_t *state);

/* Updates in a name like step-00001200; -1 for other names. */
int64_t axle__checkpoint_number(const char *name);
/* A checkpoint in a folder. Serial numbers rise with each save, so that the newest is known also
 * where a training went on from an earlier one than the last, or began anew. */
typedef struct axle__checkpoint_entry {
    int64_t number, serial; /* INT64_MAX: its manifest cannot be read */
    double metric;          /* NAN: it has none */
} axle__checkpoint_entry;
/* The newest first, after those that cannot be read; for axle__free(). */
int axle__checkpoint_entries(const char *folder, axle__checkpoint_entry **out, size_t *count);
int64_t axle__checkpoint_next_serial(const char *folder);
char *axle__checkpoint_path(const char *folder, int64_t number);
/* Remove what dead processes left half-written. */
void axle__checkpoint_sweep(const char *folder);
/* Remove all but the last `keep` and the best. */
void axle__checkpoint_prune(const char *folder, int keep, int best);
/* `path` under a name of this process's own, for what is half-written: ".NAME.tmp-PID". */
char *axle__checkpoint_temporary(const char *path);

/* ------------------------------------------------------------------ the accelerator's */

typedef struct axle__custom_state {
    char *name;
    axle_state_callbacks callbacks;
    void *user;
} axle__custom_state;

struct axle_state_writer {
    unsigned char *data;
    size_t size, room;
    int code;
};

struct axle__checkpoints {
    axle_checkpoint_options options; /* its directory is owned */
    axle__custom_state *custom;
    int custom_count;
    axle_ema **ema; /* averages that are saved as well; borrowed */
    int ema_count;
    int64_t last; /* updates when it was saved or loaded last; -1 */
    axle__rooms rooms;
    bool reserved; /* memory for the first snapshot was looked after */
    bool touching; /* the thread below does so */
    int stop;      /* atomic: it shall end */

    /* The writer; `snapshot`, `path` and what follows are its own while it runs. */
    pthread_t thread;
    bool started;
    int running; /* atomic */
    axle__snapshot snapshot;
    char *path;
    int status; /* of the last one that nobody was told of */
    char message[512];
};

/* The accelerator's, made when first asked for. */
int axle__checkpoints_of(axle_accelerator *accelerator, axle__checkpoints **out);
/* Updates so far: the first optimizer's. */
int64_t axle__updates_of(const axle_accelerator *accelerator);
/* Write a snapshot, which is taken over, here or on a thread. */
int axle__checkpoint_start(axle__checkpoints *checkpoints, axle__snapshot *snapshot, char *path);
/* Reserve memory for the first snapshot, and let the thread find its pages meanwhile. */
void axle__checkpoint_reserve(axle__checkpoints *checkpoints, const axle_accelerator *accelerator);
/* Wait for the thread; the outcome of what it wrote. */
int axle__checkpoint_finish(axle__checkpoints *checkpoints);

#endif
