# SPDX-License-Identifier: Apache-2.0
#
# Tokenizers beside the library `tokenizers`. The folders' texts are what make_tokenizers.py wrote.
TESTS += %D%/golden.sh
EXTRA_DIST += %D%/golden.sh %D%/../golden/tokenizers

# For tests/golden/compare_tokenizers.py.
check_PROGRAMS += %D%/encode_lines
%C%_encode_lines_LDADD = libaxle-models.la libaxle.la
%C%_encode_lines_LDFLAGS = $(black_box_ldflags)
