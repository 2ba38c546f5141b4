# SPDX-License-Identifier: Apache-2.0
#
# Readers of files under libFuzzer: `make fuzz FUZZ_SECONDS=600` takes clang; the inputs kept are a test.
check_PROGRAMS += %D%/replay
%C%_replay_SOURCES = %D%/folder.c %D%/replay.c %D%/targets.c %D%/targets.h
%C%_replay_LDADD = libaxle-models.la libaxle.la
%C%_replay_LDFLAGS = $(black_box_ldflags)
TESTS += %D%/replay.sh
EXTRA_DIST += %D%/beside %D%/corpus %D%/libfuzzer.c %D%/replay.sh %D%/run.sh

FUZZ_SECONDS = 600
fuzz:
	$(SHELL) $(top_srcdir)/%D%/run.sh $(FUZZ_SECONDS) $(FUZZ_TARGETS)
.PHONY: fuzz
