# SPDX-License-Identifier: Apache-2.0
#
# libaxle-models: models on top of the public interface, a folder a noun. For the numbers see
# core/local.mk.
lib_LTLIBRARIES += libaxle-models.la
libaxle_models_la_SOURCES =
libaxle_models_la_LIBADD = frontends/common/libcommon.la libaxle.la
libaxle_models_la_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,'$$ORIGIN' -version-info 0:0:0 -no-undefined

include %D%/hub/local.mk
include %D%/text/local.mk
include %D%/tokenizers/local.mk
include %D%/transformers/local.mk
include %D%/vision/local.mk
