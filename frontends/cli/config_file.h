/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration files of axle launch: YAML, one key a value. Keys are the names of options with '_'
 * for '-'; those of Hugging Face accelerate's default_config.yaml are understood, too.
 */
#ifndef AXLE_CLI_CONFIG_FILE_H
#define AXLE_CLI_CONFIG_FILE_H

#include "launch.h"

/* Starts as {0}, which release accepts, too. */
typedef struct config_file {
    const struct command *command; /* in whose name messages are */
    const char *path;              /* borrowed */
    launch_values values;
    char **kept; /* what `values` point to */
    int kept_count;
    /* While it is read. */
    bool machines;      /* it has num_machines: num_processes is the number in all */
    int processes_line; /* where num_processes stands */
    FILE *unused;       /* names of known keys that mean nothing here */
    char *unused_text;
    size_t unused_size;
    int unused_count;
} config_file;

/* A value of a file. */
typedef struct config_value {
    const char *key;
    char *text; /* NULL: neither a scalar nor a list of them */
    bool quoted, list;
    int line;
} config_value;

/* Whether this build can read and write such files. */
bool config_file_supported(void);
/* The file that axle launch looks for by itself, as memory for free(); NULL without a home. */
char *config_file_default_path(void);
/* Read a file, which must be there. Returns -1 to go on, or an exit code after a message. Keys that
 * are unknown get a warning; with `quiet` nothing is said of accelerate's that mean nothing here.
 */
int config_file_read(config_file *file, const struct command *command, const char *path, int quiet);
void config_file_release(config_file *file);
/* Write a file, whole or not at all. Returns an exit code. */
int config_file_write(const struct command *command, const char *path, const launch_values *values);

/* Print the keys and values, as YAML. Returns an exit code. */
int config_file_print(const struct command *command, FILE *stream, const launch_values *values);

/* Print `axle NAME: FILE:LINE: KEY: message` and return EXIT_USAGE. */
int config_file_error(const config_file *file, const config_value *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Keep a string, which may be NULL where memory ran out, for the life of the file. */
char *config_file_keep(config_file *file, char *text);
/* Take over a value, whose text is the file's. Returns -1 or an exit code. */
int config_keys_store(config_file *file, const config_value *value);
/* Once all are stored. */
int config_keys_finish(config_file *file, int quiet);

#endif
