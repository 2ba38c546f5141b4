# SPDX-License-Identifier: Apache-2.0
#
# The axle command, one file a subcommand, and the parts that they share.
bin_PROGRAMS += axle
axle_SOURCES = \
	%D%/backend_check.c \
	%D%/backend_check.h \
	%D%/backend_report.c \
	%D%/bench.c \
	%D%/bench.h \
	%D%/bench_allreduce.c \
	%D%/bench_compare.c \
	%D%/bench_conv.c \
	%D%/bench_direct.c \
	%D%/bench_dispatch.c \
	%D%/bench_group.c \
	%D%/bench_group.h \
	%D%/bench_matmul.c \
	%D%/bench_measure.c \
	%D%/bench_op.c \
	%D%/bench_op.h \
	%D%/bench_op_table.c \
	%D%/bench_optimizer.c \
	%D%/bench_overlap.c \
	%D%/bench_processes.c \
	%D%/bench_products.c \
	%D%/bench_products.h \
	%D%/bench_start.c \
	%D%/bench_step.c \
	%D%/clock.h \
	%D%/command.h \
	%D%/config.c \
	%D%/config_ask.c \
	%D%/config_ask.h \
	%D%/config_file.c \
	%D%/config_file.h \
	%D%/config_keys.c \
	%D%/config_write.c \
	%D%/estimate_measure.c \
	%D%/estimate_memory.c \
	%D%/estimate_memory.h \
	%D%/eval.c \
	%D%/evaluate.c \
	%D%/evaluate.h \
	%D%/generate.c \
	%D%/info.c \
	%D%/interrupt.c \
	%D%/interrupt.h \
	%D%/launch.c \
	%D%/launch.h \
	%D%/launch_child.c \
	%D%/launch_child.h \
	%D%/launch_detect.c \
	%D%/launch_environment.c \
	%D%/launch_environment.h \
	%D%/launch_job.c \
	%D%/launch_listen.c \
	%D%/launch_listen.h \
	%D%/launch_options.c \
	%D%/launch_output.c \
	%D%/launch_output.h \
	%D%/launch_plan.c \
	%D%/launch_plan.h \
	%D%/launch_stream.c \
	%D%/launch_stream.h \
	%D%/launch_supervisor.c \
	%D%/launch_supervisor.h \
	%D%/launch_turn.c \
	%D%/launch_warden.c \
	%D%/launch_warden.h \
	%D%/loss_log.c \
	%D%/loss_log.h \
	%D%/main.c \
	%D%/mean.h \
	%D%/names.c \
	%D%/names.h \
	%D%/option_value.c \
	%D%/option_value.h \
	%D%/options.c \
	%D%/options.h \
	%D%/plot.c \
	%D%/plot.h \
	%D%/plot_picture.c \
	%D%/plot_read.c \
	%D%/plot_scale.c \
	%D%/plot_scale.h \
	%D%/plot_text.c \
	%D%/predict.c \
	%D%/predict_output.c \
	%D%/predict_output.h \
	%D%/pretrained.c \
	%D%/pretrained.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/standardise.c \
	%D%/standardise.h \
	%D%/text_model.c \
	%D%/text_model.h \
	%D%/test.c \
	%D%/test.h \
	%D%/test_check.c \
	%D%/test_collectives.c \
	%D%/test_control.c \
	%D%/test_data.c \
	%D%/test_links.c \
	%D%/test_order.c \
	%D%/test_random.c \
	%D%/test_report.c \
	%D%/test_training.c \
	%D%/texts.c \
	%D%/texts.h \
	%D%/tokenize.c \
	%D%/train.c \
	%D%/train.h \
	%D%/train_adapt.c \
	%D%/train_checkpoint.c \
	%D%/train_image.c \
	%D%/train_loop.c \
	%D%/train_optim.c \
	%D%/train_options.c \
	%D%/train_profile.c \
	%D%/train_report.c \
	%D%/train_task.c \
	%D%/train_text.c \
	%D%/train_track.c \
	%D%/train_track.h
axle_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(YAML_CFLAGS) $(CAIRO_CFLAGS)
axle_LDADD = frontends/check/libcheck.la frontends/common/libcommon.la libaxle-models.la libaxle-track.la libaxle.la $(JANSSON_LIBS) $(YAML_LIBS) \
	$(CAIRO_LIBS)
axle_LDFLAGS = $(AM_LDFLAGS) $(AXLE_ORIGIN_LDFLAGS)

dist_man_MANS += \
	%D%/axle.1 \
	%D%/axle-backend-check.1 \
	%D%/axle-bench.1 \
	%D%/axle-config.1 \
	%D%/axle-estimate-memory.1 \
	%D%/axle-eval.1 \
	%D%/axle-generate.1 \
	%D%/axle-info.1 \
	%D%/axle-launch.1 \
	%D%/axle-plot.1 \
	%D%/axle-predict.1 \
	%D%/axle-test.1 \
	%D%/axle-tokenize.1 \
	%D%/axle-train.1

# bash-completion looks for files with the name of the command.
bashcompletiondir = $(datadir)/bash-completion/completions
EXTRA_DIST += %D%/axle.bash-completion
install-data-hook: install-completion
install-completion:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) '$(srcdir)/%D%/axle.bash-completion' '$(DESTDIR)$(bashcompletiondir)/axle'
uninstall-hook: uninstall-completion
uninstall-completion:
	rm -f '$(DESTDIR)$(bashcompletiondir)/axle'
.PHONY: install-completion uninstall-completion
