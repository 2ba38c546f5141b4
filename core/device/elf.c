/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "device/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "axle/status.h"

enum { SEGMENTS_MAX = 64 };

static int cut_off(uint64_t size, uint64_t end)
{
    return axle_error_set(AXLE_ERR_FORMAT, "is cut off: it has %llu of %llu bytes",
                          (unsigned long long)size, (unsigned long long)end);
}

static int check_segments(int file, uint64_t size)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) segment[SEGMENTS_MAX];
    if (pread(file, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(segment[0]) ||
        head.e_phnum > SEGMENTS_MAX)
        return AXLE_OK;
    size_t bytes = head.e_phnum * sizeof(segment[0]);
    if (pread(file, segment, bytes, (off_t)head.e_phoff) != (ssize_t)bytes)
        return cut_off(size, head.e_phoff + bytes);
    for (int k = 0; k < head.e_phnum; k++) {
        uint64_t end = segment[k].p_offset + segment[k].p_filesz;
        if (segment[k].p_type == PT_LOAD && end > size)
            return cut_off(size, end);
    }
    return AXLE_OK;
}

int axle__elf_check(const char *path)
{
    struct stat about;
    int code = AXLE_OK, file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return AXLE_OK;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
        code = check_segments(file, (uint64_t)about.st_size);
    close(file);
    return code;
}
