# SPDX-License-Identifier: Apache-2.0
#
# What tests of the hub share: nothing of the user's own, a program that resolves, and a server.
for name in $(env | sed -n 's/^\(HF_[A-Za-z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
unset TRANSFORMERS_OFFLINE http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
HF_HOME=$work/home
export HF_HOME

# resolve NAME [KEY=VALUE]...
resolve()
{
    "$top_builddir/tests/hub/resolve" "$@"
}

# is_refused PATTERN NAME [KEY=VALUE]...: whether that fails with such a message.
is_refused()
{
    pattern=$1
    shift
    if resolve "$@" >"$work/refused" 2>&1; then
        echo 'it succeeded'
        return 1
    fi
    cat "$work/refused"
    grep -q -e "$pattern" "$work/refused"
}

# requests PATTERN: how many lines of the server's log match.
requests()
{
    grep -c -e "$1" "$work/server/log" || true
}

# The server ends with the pipe that is its standard input.
start_server()
{
    case "$can_download" in
        no) skip 'models are downloaded' 'built without libcurl'; return 1 ;;
    esac
    python=$(command -v python3) || { skip 'models are downloaded' 'there is no python3'; return 1; }
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
        { skip 'models are downloaded' 'python3 is older than 3.9'; return 1; }
    mkdir "$work/server" && : >"$work/server/log" && mkfifo "$work/server/pipe"
    "$python" "$top_srcdir/tests/hub/server.py" "$work/server" <"$work/server/pipe" &
    exec 9>"$work/server/pipe"
    while [ ! -f "$work/server/ports" ] && kill -0 $! 2>/dev/null; do
        sleep 0.05
    done
    if [ ! -f "$work/server/ports" ]; then
        fail 'the server starts'
        return 1
    fi
    read -r hub_port _ <"$work/server/ports"
    HF_ENDPOINT=http://127.0.0.1:$hub_port/
    export HF_ENDPOINT
    cat >"$work/same.py" <<'END'
import random, sys
content = {'config.json': b'{"model_type": "distilbert"}\n', 'onnx/model.onnx': b'nor this',
           'model.safetensors': random.Random(1).randbytes(300017)}
sys.exit(open(sys.argv[1], 'rb').read() != content[sys.argv[2]])
END
}
