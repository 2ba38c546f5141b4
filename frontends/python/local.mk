# SPDX-License-Identifier: Apache-2.0
#
# The Python package. It is installed where configure found a Python; its tests run with each one.
dist_check_SCRIPTS += %D%/tests/run.sh
TESTS += %D%/tests/run.sh
EXTRA_DIST += \
	%D%/tests/make_training.py \
	%D%/tests/program.py \
	%D%/tests/tap.py \
	%D%/tests/test_abi.py \
	%D%/tests/test_accelerator.py \
	%D%/tests/test_autograd.py \
	%D%/tests/test_data.py \
	%D%/tests/test_examples.py \
	%D%/tests/test_install.py \
	%D%/tests/test_library.py \
	%D%/tests/test_nn.py \
	%D%/tests/test_programs.py \
	%D%/tests/test_tensor.py \
	%D%/tests/test_transformers.py \
	%D%/tests/training.json \
	%D%/tests/training.py \
	%D%/README.md \
	%D%/pyproject.toml \
	%D%/tools/describe_abi.py

python_sources = \
	%D%/axle/__init__.py \
	%D%/axle/_abi.py \
	%D%/axle/__main__.py \
	%D%/axle/_library.py \
	%D%/axle/accelerator.py \
	%D%/axle/autograd.py \
	%D%/axle/creation.py \
	%D%/axle/device.py \
	%D%/axle/dtypes.py \
	%D%/axle/exchange.py \
	%D%/axle/indexing.py \
	%D%/axle/metrics.py \
	%D%/axle/operators.py \
	%D%/axle/random.py \
	%D%/axle/tensor.py \
	%D%/axle/tokenization.py \
	%D%/axle/tracking.py \
	%D%/axle/transformers.py \
	%D%/axle/utils.py
python_data_sources = \
	%D%/axle/data/__init__.py \
	%D%/axle/data/collate.py \
	%D%/axle/data/dataset.py \
	%D%/axle/data/loader.py \
	%D%/axle/data/sampler.py \
	%D%/axle/data/source.py
python_nn_sources = \
	%D%/axle/nn/__init__.py \
	%D%/axle/nn/functional.py \
	%D%/axle/nn/init.py \
	%D%/axle/nn/layers.py \
	%D%/axle/nn/loss.py \
	%D%/axle/nn/module.py \
	%D%/axle/nn/parameter.py
python_optim_sources = \
	%D%/axle/optim/__init__.py \
	%D%/axle/optim/lr_scheduler.py \
	%D%/axle/optim/optimizer.py
EXTRA_DIST += \
	$(python_sources) $(python_data_sources) $(python_nn_sources) $(python_optim_sources)

if HAVE_PYTHON
axlepydir = $(pythondir)/axle
axlepy_PYTHON = $(python_sources)
axlepydatadir = $(pythondir)/axle/data
axlepydata_PYTHON = $(python_data_sources)
axlepynndir = $(pythondir)/axle/nn
axlepynn_PYTHON = $(python_nn_sources)
axlepyoptimdir = $(pythondir)/axle/optim
axlepyoptim_PYTHON = $(python_optim_sources)
nodist_axlepy_PYTHON = %D%/_installed.py
CLEANFILES += %D%/_installed.py
endif

# Where the package finds the library that it was installed with, from its own folder, so that
# trees may be moved.
%D%/_installed.py: Makefile
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	  { echo '# SPDX-License-Identifier: Apache-2.0'; \
	    echo '"""Where the library was installed."""'; \
	    echo "LIBRARY_DIR = \"`realpath -ms --relative-to='$(pythondir)/axle' '$(libdir)'`\""; } >$@
