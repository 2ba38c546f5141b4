# SPDX-License-Identifier: Apache-2.0
#
# What several front ends share: files and folders, and copies of options.
noinst_LTLIBRARIES += %D%/libcommon.la
%C%_libcommon_la_SOURCES = \
	%D%/folder.c \
	%D%/folder.h \
	%D%/options_copy.c \
	%D%/options_copy.h \
	%D%/temporary.c \
	%D%/temporary.h \
	%D%/whole_file.c \
	%D%/whole_file.h
