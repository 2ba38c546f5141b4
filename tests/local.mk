# SPDX-License-Identifier: Apache-2.0
#
# All tests speak TAP: C programs through cmocka, shell scripts with the help of tests/tap.sh.
# tests/run starts each of them.
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(top_srcdir)/%D%/run
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/%D%/run $(SHELL)

# What tests may rely on. Settings of the user's own do not reach them.
AM_TESTS_ENVIRONMENT = \
	for axle_name in `env | $(SED) -n 's/^\(AXLE_[A-Za-z0-9_]*\)=.*/\1/p'`; do \
	  unset $$axle_name; \
	done; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	AXLE='$(abs_top_builddir)/axle'; export AXLE; \
	FAKE_PLUGIN='$(abs_top_builddir)/backends/fake/.libs/fake.so'; export FAKE_PLUGIN; \
	XDG_CACHE_HOME='$(abs_top_builddir)/%D%/cache'; export XDG_CACHE_HOME; \
	CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX; NM='$(NM)'; export NM; \
	MAKE='$(MAKE)'; export MAKE; \
	sanitizer='$(with_sanitizer)'; export sanitizer; \
	can_download='$(can_download)'; export can_download; \
	prefix='$(prefix)'; export prefix; bindir='$(bindir)'; export bindir; \
	libdir='$(libdir)'; export libdir; \
	public_headers='$(pkginclude_HEADERS:$(top_srcdir)/%=%)'; export public_headers; \
	outside_cppflags='$(AM_CPPFLAGS)'; export outside_cppflags; \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	$(sanitizer_environment)

# The libraries that we use and do not instrument keep memory for the life of the process
# (lsan.supp), and synchronise in ways that ThreadSanitizer does not see (tsan.supp, and OpenMP,
# which therefore runs on one thread). LeakSanitizer crashes where it looks for the thread-local
# storage of modules that were loaded late, unless it leaves __tls_get_addr alone.
sanitizer_environment = \
	ASAN_OPTIONS="strict_string_checks=1:allocator_may_return_null=1:intercept_tls_get_addr=0:$$ASAN_OPTIONS"; \
	export ASAN_OPTIONS; \
	LSAN_OPTIONS="suppressions=$(abs_top_srcdir)/%D%/lsan.supp:print_suppressions=0:$$LSAN_OPTIONS"; \
	export LSAN_OPTIONS; \
	UBSAN_OPTIONS="print_stacktrace=1:$$UBSAN_OPTIONS"; export UBSAN_OPTIONS; \
	TSAN_OPTIONS="suppressions=$(abs_top_srcdir)/%D%/tsan.supp:second_deadlock_stack=1:die_after_fork=0:allocator_may_return_null=1:$$TSAN_OPTIONS"; \
	export TSAN_OPTIONS; \
	case '$(with_sanitizer)' in thread) OMP_NUM_THREADS=1; export OMP_NUM_THREADS ;; esac;

# Unit tests mirror the folders of core/: one file, one program. They see the core's own headers
# and link its objects. Programs that load backends link libaxle instead. None links both, or its
# process would hold two registries.
unit_tests = \
	%D%/unit/base/cores \
	%D%/unit/base/dtype \
	%D%/unit/base/error \
	%D%/unit/base/file \
	%D%/unit/base/finalize \
	%D%/unit/base/log \
	%D%/unit/base/memory \
	%D%/unit/base/settings \
	%D%/unit/base/text \
	%D%/unit/base/threads \
	%D%/unit/job/control \
	%D%/unit/job/losses \
	%D%/unit/job/meeting \
	%D%/unit/job/membership \
	%D%/unit/job/rendezvous \
	%D%/unit/job/strangers \
	%D%/unit/job/wire \
	%D%/unit/device/allocator \
	%D%/unit/device/cache \
	%D%/unit/device/dispatch \
	%D%/unit/device/dry_run \
	%D%/unit/device/guard \
	%D%/unit/device/hook \
	%D%/unit/device/plugin \
	%D%/unit/device/registry \
	%D%/unit/device/selection \
	%D%/unit/device/survey \
	%D%/unit/device/trace \
	%D%/unit/device/transfer \
	%D%/unit/autograd/autocast \
	%D%/unit/autograd/cases \
	%D%/unit/autograd/engine \
	%D%/unit/autograd/errors \
	%D%/unit/autograd/errors_layers \
	%D%/unit/autograd/gradients \
	%D%/unit/autograd/graph \
	%D%/unit/nn/allocation \
	%D%/unit/nn/attention \
	%D%/unit/nn/call \
	%D%/unit/nn/freeze \
	%D%/unit/nn/init \
	%D%/unit/nn/layers \
	%D%/unit/nn/lora \
	%D%/unit/nn/model \
	%D%/unit/nn/module \
	%D%/unit/nn/move \
	%D%/unit/nn/recompute \
	%D%/unit/nn/rnn \
	%D%/unit/nn/state \
	%D%/unit/optim/ema \
	%D%/unit/optim/optimizer \
	%D%/unit/data/dataset \
	%D%/unit/data/idx \
	%D%/unit/data/jsonl \
	%D%/unit/data/loader \
	%D%/unit/data/npy \
	%D%/unit/data/records \
	%D%/unit/data/sampler \
	%D%/unit/data/stream \
	%D%/unit/data/table \
	%D%/unit/group/collectives \
	%D%/unit/group/combine \
	%D%/unit/group/deaths \
	%D%/unit/group/mismatches \
	%D%/unit/group/transport \
	%D%/unit/io/safetensors \
	%D%/unit/io/tensor_file \
	%D%/unit/tensor/create \
	%D%/unit/tensor/host \
	%D%/unit/tensor/layout \
	%D%/unit/tensor/random \
	%D%/unit/tensor/scope \
	%D%/unit/tensor/shape \
	%D%/unit/tensor/view \
	%D%/unit/openblas/selfcheck \
	%D%/unit/train/accelerator \
	%D%/unit/train/checkpoint \
	%D%/unit/train/checkpoint_damage \
	%D%/unit/train/checkpoint_ema \
	%D%/unit/train/checkpoint_processes \
	%D%/unit/train/checkpoint_readonly \
	%D%/unit/train/batch_size \
	%D%/unit/train/local_sgd \
	%D%/unit/train/parallel \
	%D%/unit/train/precision \
	%D%/unit/train/processes \
	%D%/unit/models/image

if HAVE_HIREDIS
unit_tests += %D%/unit/job/rendezvous_redis
endif
%C%_unit_job_rendezvous_redis_LDADD = $(LDADD) $(HIREDIS_LIBS)
%D%/unit/job/rendezvous_redis.o: AM_CFLAGS += $(HIREDIS_CFLAGS)

unit_headers = \
	%D%/unit/autograd/refusals.h \
	%D%/unit/data/sets.h \
	%D%/unit/device/board.h \
	%D%/unit/device/plugins.h \
	%D%/unit/files.h \
	%D%/unit/group/processes.h \
	%D%/unit/job/ranks.h \
	%D%/unit/job/redis_server.h \
	%D%/unit/nn/golden_layer.h \
	%D%/unit/nn/nn.h \
	%D%/unit/openblas/plain_gemm.h \
	%D%/unit/tensors.h \
	%D%/unit/train/folder.h \
	%D%/unit/train/training.h \
	%D%/unit/transformers/tiny.h \
	%D%/unit/unit.h

LDADD = $(support_ldadd) core/libcore.la backends/reference/libreference.la $(CMOCKA_LIBS)
%D%/unit/%.o: AM_CPPFLAGS += -I$(top_srcdir)/core -I$(top_srcdir)/%D% -I$(top_srcdir)/%D%/unit
%D%/unit/%.o: AM_CFLAGS += $(CMOCKA_CFLAGS)
%D%/unit/device/trace.o: AM_CFLAGS += $(JANSSON_CFLAGS)

# Files of backends that need no device.
%C%_unit_openblas_selfcheck_LDADD = backends/openblas/libselfcheck.la $(CMOCKA_LIBS) -lm
%D%/unit/openblas/%.o: AM_CPPFLAGS += -I$(top_srcdir)/backends

# Backends that break the rules.
check_LTLIBRARIES += %D%/unit/device/broken.la %D%/unit/device/newer.la
%C%_unit_device_broken_la_LDFLAGS = $(test_module_ldflags)
%C%_unit_device_newer_la_LDFLAGS = $(test_module_ldflags)
# A library that the OpenBLAS backend must not use.
check_LTLIBRARIES += %D%/unit/openblas/wrong.la
%C%_unit_openblas_wrong_la_LDFLAGS = $(test_module_ldflags)
# -rpath makes libtool build a shared object although it is not installed.

# A transport, so that the group's tests need none of the installed ones.
check_LTLIBRARIES += %D%/unit/group/sockets.la
%C%_unit_group_sockets_la_LDFLAGS = $(test_module_ldflags)
test_module_ldflags = $(AM_LDFLAGS) -module -avoid-version -rpath $(abs_top_builddir)/%D%

# What programs of either kind share: golden vectors and the table of operator cases.
check_LTLIBRARIES += %D%/support/libsupport.la
%C%_support_libsupport_la_SOURCES = \
	%D%/support/field_cases.c \
	%D%/support/field_cases.h \
	%D%/support/golden.c \
	%D%/support/golden.h \
	%D%/support/op_cases.c \
	%D%/support/op_cases.h \
	%D%/support/tap.h
%C%_support_libsupport_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/%D% -I$(top_srcdir)/%D%/unit
%C%_support_libsupport_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
support_ldadd = %D%/support/libsupport.la $(JANSSON_LIBS) -lm

# Without -no-install libtool would put a script in each program's place.
black_box_ldadd = $(support_ldadd) libaxle-models.la libaxle.la
black_box_ldflags = $(AM_LDFLAGS) -no-install

# Operators, optimizers and schedules on each backend, against PyTorch's results and against the
# reference backend. The scripts choose the backend.
conformance_programs = \
	%D%/conformance/cases \
	%D%/conformance/golden_ops \
	%D%/conformance/golden_optim \
	%D%/conformance/golden_transformers
%C%_conformance_cases_SOURCES = \
	%D%/conformance/cases.c \
	%D%/conformance/choice.c \
	%D%/conformance/choice.h
%C%_conformance_cases_LDADD = $(black_box_ldadd)
%C%_conformance_cases_LDFLAGS = $(black_box_ldflags)
%C%_conformance_golden_ops_SOURCES = \
	%D%/conformance/choice.c \
	%D%/conformance/choice.h \
	%D%/conformance/golden_calls.c \
	%D%/conformance/golden_calls.h \
	%D%/conformance/golden_ops.c
%C%_conformance_golden_ops_LDADD = $(black_box_ldadd)
%C%_conformance_golden_ops_LDFLAGS = $(black_box_ldflags)
%C%_conformance_golden_optim_SOURCES = \
	%D%/conformance/choice.c \
	%D%/conformance/choice.h \
	%D%/conformance/golden_optim.c
%C%_conformance_golden_optim_LDADD = $(black_box_ldadd)
%C%_conformance_golden_optim_LDFLAGS = $(black_box_ldflags)
%C%_conformance_golden_transformers_LDADD = $(black_box_ldadd)
%C%_conformance_golden_transformers_LDFLAGS = $(black_box_ldflags)
%C%_conformance_agreement_SOURCES = \
	%D%/conformance/agreement.c \
	%D%/conformance/choice.c \
	%D%/conformance/choice.h
%C%_conformance_agreement_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_conformance_agreement_LDFLAGS = $(black_box_ldflags)
%C%_conformance_large_products_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_conformance_large_products_LDFLAGS = $(black_box_ldflags)
%D%/conformance/%.o: AM_CPPFLAGS += -I$(top_srcdir)/%D% -I$(top_srcdir)/%D%/unit
%D%/conformance/%.o: AM_CFLAGS += $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
check_PROGRAMS += $(conformance_programs)

conformance_tests = \
	%D%/conformance/agreement_onednn.sh \
	%D%/conformance/agreement_openblas.sh \
	%D%/conformance/agreement_opencl.sh \
	%D%/conformance/cases_onednn.sh \
	%D%/conformance/cases_openblas.sh \
	%D%/conformance/cases_opencl.sh \
	%D%/conformance/cases_opencl_1.sh \
	%D%/conformance/cases_opencl_7.sh \
	%D%/conformance/cases_opencl_64.sh \
	%D%/conformance/cases_reference.sh \
	%D%/conformance/golden_ops_onednn.sh \
	%D%/conformance/golden_ops_openblas.sh \
	%D%/conformance/golden_ops_opencl.sh \
	%D%/conformance/golden_ops_reference.sh \
	%D%/conformance/golden_optim_onednn.sh \
	%D%/conformance/golden_optim_openblas.sh \
	%D%/conformance/golden_optim_opencl.sh \
	%D%/conformance/golden_optim_reference.sh \
	%D%/conformance/golden_transformers_onednn.sh \
	%D%/conformance/golden_transformers_openblas.sh \
	%D%/conformance/golden_transformers_opencl.sh \
	%D%/conformance/golden_transformers_reference.sh \
	%D%/conformance/large_products_onednn.sh \
	%D%/conformance/large_products_openblas.sh
TESTS += $(conformance_tests)

# Models stand on the library.
model_tests = %D%/unit/models/image
%C%_unit_models_image_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_models_image_LDFLAGS = $(black_box_ldflags)

# Texts, and metrics.
text_tests = \
	%D%/unit/text/dataset \
	%D%/unit/text/length_groups \
	%D%/unit/text/metrics
model_tests += $(text_tests)
%C%_unit_text_dataset_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_text_dataset_LDFLAGS = $(black_box_ldflags)
%C%_unit_text_length_groups_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_text_length_groups_LDFLAGS = $(black_box_ldflags)
%C%_unit_text_metrics_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_text_metrics_LDFLAGS = $(black_box_ldflags)

# Language models, and their files.
transformer_tests = \
	%D%/unit/transformers/config \
	%D%/unit/transformers/files \
	%D%/unit/transformers/generate \
	%D%/unit/transformers/load \
	%D%/unit/transformers/models
model_tests += $(transformer_tests)
%C%_unit_transformers_config_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_transformers_config_LDFLAGS = $(black_box_ldflags)
%C%_unit_transformers_files_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_transformers_files_LDFLAGS = $(black_box_ldflags)
%C%_unit_transformers_generate_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_transformers_generate_LDFLAGS = $(black_box_ldflags)
%C%_unit_transformers_load_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_transformers_load_LDFLAGS = $(black_box_ldflags)
%C%_unit_transformers_models_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_transformers_models_LDFLAGS = $(black_box_ldflags)

# So do trackers.
model_tests += %D%/unit/track/tracker
if HAVE_UTF8PROC
model_tests += %D%/unit/tokenizers/cases
endif
%C%_unit_tokenizers_cases_LDADD = $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_tokenizers_cases_LDFLAGS = $(black_box_ldflags)
%C%_unit_track_tracker_SOURCES = \
	%D%/unit/track/events.c \
	%D%/unit/track/events.h \
	%D%/unit/track/tracker.c
%C%_unit_track_tracker_LDADD = libaxle-track.la $(black_box_ldadd) $(CMOCKA_LIBS)
%C%_unit_track_tracker_LDFLAGS = $(black_box_ldflags)
%D%/unit/track/%.o: AM_CFLAGS += $(JANSSON_CFLAGS)

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests) $(model_tests) %D%/conformance/agreement \
	%D%/conformance/large_products
TESTS += $(unit_tests) $(model_tests) %D%/unit/group/over_gloo.sh \
	%D%/unit/job/over_redis.sh
else
TESTS += %D%/build/no_cmocka.sh
endif

# The programs alone: for tools that are slow, as in `make check-unit LOG_FLAGS='valgrind -q'`.
check-unit:
	$(MAKE) check TESTS='$(unit_tests) $(model_tests)'
.PHONY: check-unit

# Computed with PyTorch, by make_golden.py.
golden_data = \
	%D%/golden/README.md \
	%D%/golden/arg_reduce.json \
	%D%/golden/attention.json \
	%D%/golden/binary.json \
	%D%/golden/conv.json \
	%D%/golden/index.json \
	%D%/golden/initializer.json \
	%D%/golden/interpolate.json \
	%D%/golden/loss.json \
	%D%/golden/make_golden.py \
	%D%/golden/make_transformers.py \
	%D%/golden/compare_tokenizers.py \
	%D%/golden/make_tokenizers.py \
	%D%/golden/make_unicode_table.py \
	%D%/golden/tokenizer_oracle.py \
	%D%/golden/matmul.json \
	%D%/golden/norm.json \
	%D%/golden/optimizer.json \
	%D%/golden/oracle/__init__.py \
	%D%/golden/oracle/attention.py \
	%D%/golden/oracle/case.py \
	%D%/golden/oracle/conv.py \
	%D%/golden/oracle/elementwise.py \
	%D%/golden/oracle/indexing.py \
	%D%/golden/oracle/initializer.py \
	%D%/golden/oracle/loss.py \
	%D%/golden/oracle/norm.py \
	%D%/golden/oracle/optimizer.py \
	%D%/golden/oracle/pool.py \
	%D%/golden/oracle/pretrained.py \
	%D%/golden/oracle/product.py \
	%D%/golden/oracle/recurrent.py \
	%D%/golden/oracle/reduction.py \
	%D%/golden/oracle/scheduler.py \
	%D%/golden/oracle/shape.py \
	%D%/golden/oracle/softmax.py \
	%D%/golden/oracle/transformer.py \
	%D%/golden/pool.json \
	%D%/golden/recurrent.json \
	%D%/golden/reduce.json \
	%D%/golden/scheduler.json \
	%D%/golden/select.json \
	%D%/golden/shape.json \
	%D%/golden/softmax.json \
	%D%/golden/transformer.json \
	%D%/golden/transformers/bert-masked/config.json \
	%D%/golden/transformers/bert-masked/expected.safetensors \
	%D%/golden/transformers/bert-masked/model.safetensors \
	%D%/golden/transformers/bert-sequence/config.json \
	%D%/golden/transformers/bert-sequence/expected.safetensors \
	%D%/golden/transformers/bert-sequence/model.safetensors \
	%D%/golden/transformers/bert-token/config.json \
	%D%/golden/transformers/bert-token/expected.safetensors \
	%D%/golden/transformers/bert-token/model.safetensors \
	%D%/golden/transformers/distilbert-masked/config.json \
	%D%/golden/transformers/distilbert-masked/expected.safetensors \
	%D%/golden/transformers/distilbert-masked/model.safetensors \
	%D%/golden/transformers/distilbert-regression/config.json \
	%D%/golden/transformers/distilbert-regression/expected.safetensors \
	%D%/golden/transformers/distilbert-regression/model.safetensors \
	%D%/golden/transformers/distilbert-sequence/config.json \
	%D%/golden/transformers/distilbert-sequence/expected.safetensors \
	%D%/golden/transformers/distilbert-sequence/model.safetensors \
	%D%/golden/transformers/distilbert-token/config.json \
	%D%/golden/transformers/distilbert-token/expected.safetensors \
	%D%/golden/transformers/distilbert-token/model.safetensors \
	%D%/golden/transformers/electra-masked/config.json \
	%D%/golden/transformers/electra-masked/expected.safetensors \
	%D%/golden/transformers/electra-masked/model.safetensors \
	%D%/golden/transformers/electra-sequence/config.json \
	%D%/golden/transformers/electra-sequence/expected.safetensors \
	%D%/golden/transformers/electra-sequence/model.safetensors \
	%D%/golden/transformers/electra-token/config.json \
	%D%/golden/transformers/electra-token/expected.safetensors \
	%D%/golden/transformers/electra-token/model.safetensors \
	%D%/golden/transformers/gpt2-causal/config.json \
	%D%/golden/transformers/gpt2-causal/expected.safetensors \
	%D%/golden/transformers/gpt2-causal/model.safetensors \
	%D%/golden/transformers/gpt2-untied/config.json \
	%D%/golden/transformers/gpt2-untied/expected.safetensors \
	%D%/golden/transformers/gpt2-untied/model.safetensors \
	%D%/golden/transformers/roberta-masked/config.json \
	%D%/golden/transformers/roberta-masked/expected.safetensors \
	%D%/golden/transformers/roberta-masked/model.safetensors \
	%D%/golden/transformers/roberta-sequence/config.json \
	%D%/golden/transformers/roberta-sequence/expected.safetensors \
	%D%/golden/transformers/roberta-sequence/model.safetensors \
	%D%/golden/transformers/roberta-token/config.json \
	%D%/golden/transformers/roberta-token/expected.safetensors \
	%D%/golden/transformers/roberta-token/model.safetensors \
	%D%/golden/unary.json

# The programs, as a user starts them.
cli_tests = \
	%D%/examples/run.sh \
	%D%/cli/backend_check.sh \
	%D%/cli/backends.sh \
	%D%/cli/bad_input.sh \
	%D%/cli/bench.sh \
	%D%/cli/checkpoint.sh \
	%D%/cli/config.sh \
	%D%/cli/demo.sh \
	%D%/cli/estimate_memory.sh \
	%D%/cli/generate.sh \
	%D%/cli/help.sh \
	%D%/cli/hosts.sh \
	%D%/cli/hooks.sh \
	%D%/cli/info.sh \
	%D%/cli/interrupt.sh \
	%D%/cli/openblas.sh \
	%D%/cli/launch.sh \
	%D%/cli/launch_failure.sh \
	%D%/cli/launch_output.sh \
	%D%/cli/meeting.sh \
	%D%/cli/test.sh \
	%D%/cli/text.sh \
	%D%/cli/plot.sh \
	%D%/cli/precision.sh \
	%D%/cli/processes.sh \
	%D%/cli/train.sh \
	%D%/cli/train_tuning.sh \
	%D%/track/runs.sh \
	%D%/cli/valgrind.sh

TESTS += $(cli_tests)
EXTRA_DIST += %D%/cli/launch_support.sh %D%/cli/support.sh

# A transport that changes data, for axle test to find.
check_LTLIBRARIES += %D%/cli/disturbed.la
%C%_cli_disturbed_la_LDFLAGS = $(test_module_ldflags)

check_PROGRAMS += %D%/cli/meets
%C%_cli_meets_LDADD = libaxle.la
%C%_cli_meets_LDFLAGS = $(black_box_ldflags)

# Reads members of what the programs print as JSON.
check_PROGRAMS += %D%/cli/json
%C%_cli_json_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_cli_json_LDADD = $(JANSSON_LIBS)
%C%_cli_json_LDFLAGS = $(black_box_ldflags)

include %D%/loop/local.mk
include %D%/fuzz/local.mk
include %D%/hub/local.mk
include %D%/tokenizers/local.mk
# Writes what trackers write, without training.
check_PROGRAMS += %D%/track/write_run
EXTRA_DIST += %D%/track/tensorboard_check.py
%C%_track_write_run_LDADD = libaxle-track.la libaxle.la
%C%_track_write_run_LDFLAGS = $(black_box_ldflags)

include %D%/opencl/local.mk

# The installation, and what the compiler and the linker are told.
build_tests = \
	%D%/build/boundary.sh \
	%D%/build/configure.sh \
	%D%/build/headers.sh \
	%D%/build/install.sh \
	%D%/build/opencl_kernels.sh \
	%D%/build/symbols.sh

# It opens the library at run time.
check_PROGRAMS += %D%/build/load_local
%C%_build_load_local_LDADD =
%C%_build_load_local_LDFLAGS = $(black_box_ldflags)

TESTS += $(build_tests) %D%/build/load_local

# Installing relinks what other tests are running.
%D%/build/install.log: $(filter-out %D%/build/install.log,$(TEST_LOGS))

EXTRA_DIST += \
	$(build_tests) \
	$(cli_tests) \
	%D%/build/lint.sh \
	%D%/build/no_cmocka.sh \
	%D%/unit/group/over_gloo.sh \
	%D%/unit/job/over_redis.sh \
	%D%/build/plugin_template.sh \
	%D%/lsan.supp \
	%D%/run \
	%D%/tap.sh \
	%D%/tsan.supp \
	%D%/valgrind.supp \
	$(conformance_tests) \
	%D%/conformance/on_backend.sh \
	$(golden_data) \
	$(unit_headers)

clean-local: clean-tests
clean-tests:
	-rm -rf %D%/cache
.PHONY: clean-tests
