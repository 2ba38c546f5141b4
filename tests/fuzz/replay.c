/* SPDX-License-Identifier: Apache-2.0 */
/* replay FOLDER: give each input of FOLDER/corpus to its target. TAP. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets.h"

enum { LONGEST_PATH = 4096, MOST_BYTES = 1 << 20 };

static int replay(const fuzz_target *target, const char *folder, const char *path)
{
    static char data[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    return fuzz_run(target, folder, data, size);
}

/* How many inputs there were; -1 on failure. */
static int replay_all(const fuzz_target *target, const char *root)
{
    char inputs[LONGEST_PATH], beside[LONGEST_PATH], path[2 * LONGEST_PATH], folder[256];
    int count = 0;
    snprintf(inputs, sizeof(inputs), "%s/corpus/%s", root, target->name);
    snprintf(beside, sizeof(beside), "%s/beside/%s", root, target->name);
    DIR *all = opendir(inputs);
    if (!all || fuzz_folder_create(beside, folder, sizeof(folder)))
        return -1;
    for (struct dirent *entry; count >= 0 && (entry = readdir(all));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", inputs, entry->d_name);
        count = replay(target, folder, path) ? -1 : count + 1;
    }
    closedir(all);
    fuzz_folder_remove(folder);
    return count;
}

int main(int argc, char **argv)
{
    int number = 0, bad = 0;
    if (argc != 2) {
        fputs("replay FOLDER\n", stderr);
        return 2;
    }
    for (const fuzz_target *target = fuzz_targets; target->name; target++) {
        int count = replay_all(target, argv[1]);
        bad += count < 1;
        printf("%s %d - %s: %d inputs are read or refused\n", count < 1 ? "not ok" : "ok", ++number,
               target->name, count);
        fflush(stdout);
    }
    printf("1..%d\n", number);
    return bad != 0;
}
