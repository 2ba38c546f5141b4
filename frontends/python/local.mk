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
	%D%/tests/test_types.py \
	%D%/tools/describe_abi.py \
	%D%/tools/describe_types.py

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
	%D%/axle/launchers.py \
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
# Types, for checkers and editors; tools/describe_types.py makes them.
python_stubs = \
	%D%/axle/__init__.pyi \
	%D%/axle/accelerator.pyi \
	%D%/axle/autograd.pyi \
	%D%/axle/creation.pyi \
	%D%/axle/device.pyi \
	%D%/axle/dtypes.pyi \
	%D%/axle/exchange.pyi \
	%D%/axle/launchers.pyi \
	%D%/axle/metrics.pyi \
	%D%/axle/operators.pyi \
	%D%/axle/random.pyi \
	%D%/axle/tensor.pyi \
	%D%/axle/tokenization.pyi \
	%D%/axle/tracking.pyi \
	%D%/axle/transformers.pyi \
	%D%/axle/utils.pyi \
	%D%/axle/py.typed
python_data_stubs = \
	%D%/axle/data/__init__.pyi \
	%D%/axle/data/collate.pyi \
	%D%/axle/data/dataset.pyi \
	%D%/axle/data/loader.pyi \
	%D%/axle/data/sampler.pyi
python_nn_stubs = \
	%D%/axle/nn/__init__.pyi \
	%D%/axle/nn/functional.pyi \
	%D%/axle/nn/init.pyi \
	%D%/axle/nn/layers.pyi \
	%D%/axle/nn/loss.pyi \
	%D%/axle/nn/module.pyi \
	%D%/axle/nn/parameter.pyi
python_optim_stubs = \
	%D%/axle/optim/__init__.pyi \
	%D%/axle/optim/lr_scheduler.pyi \
	%D%/axle/optim/optimizer.pyi
EXTRA_DIST += \
	$(python_stubs) $(python_data_stubs) $(python_nn_stubs) $(python_optim_stubs) \
	$(python_sources) $(python_data_sources) $(python_nn_sources) $(python_optim_sources)

if HAVE_PYTHON
axlepydir = $(pythondir)/axle
axlepy_PYTHON = $(python_sources)
axlepy_DATA = $(python_stubs)
axlepydatadir = $(pythondir)/axle/data
axlepydata_PYTHON = $(python_data_sources)
axlepydata_DATA = $(python_data_stubs)
axlepynndir = $(pythondir)/axle/nn
axlepynn_PYTHON = $(python_nn_sources)
axlepynn_DATA = $(python_nn_stubs)
axlepyoptimdir = $(pythondir)/axle/optim
axlepyoptim_PYTHON = $(python_optim_sources)
axlepyoptim_DATA = $(python_optim_stubs)
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
