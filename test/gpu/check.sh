#!/bin/sh
# Checks canhazgpu on a machine with a real NVIDIA GPU, and prints a table of checks with what was seen.
#
#   sh test/gpu/check.sh [BINARY]
#   CHECK_GROUPS="idle run" sh test/gpu/check.sh     some groups only; their names are at the end of check/main.py
#
# Needs Linux, the NVIDIA driver, python3 with PyTorch, and the single binary: BINARY, or canhazgpu.xz beside this file. To build it:
#
#   npm run binary && xz -T0 -c dist/canhazgpu-linux-x64 > test/gpu/canhazgpu.xz
#
# Needs no Node.js, network or Redis. Takes less than 4 minutes, and changes no setting of a GPU. The exit code is 0 only if every check passed, 1 if
# one failed, and 2 if something is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

give_up() {
	printf 'check.sh: %s\n' "$1" >&2
	exit 2
}

[ "$(uname -s)" = Linux ] || give_up 'This is not Linux.'
command -v nvidia-smi >/dev/null || give_up 'nvidia-smi is not in PATH. Install the NVIDIA driver.'
command -v python3 >/dev/null || give_up 'python3 is not in PATH.'
python3 -c 'import torch' 2>/dev/null || give_up 'python3 has no PyTorch. Install it: python3 -m pip install torch'

work=$(mktemp -d "${TMPDIR:-/tmp}/canhazgpu-check.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

binary=${1:-}
if [ -z "$binary" ]; then
	[ -f "$here/canhazgpu.xz" ] || give_up "$here/canhazgpu.xz is missing. See the first lines of this file."
	binary=$work/canhazgpu
	# Python can read .xz files if xz is missing.
	python3 -c 'import lzma, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2], "wb") as file: shutil.copyfileobj(packed, file)' \
		"$here/canhazgpu.xz" "$binary" || give_up "$here/canhazgpu.xz cannot be unpacked."
	chmod 755 "$binary"
fi

"$binary" --version >/dev/null || give_up "$binary does not run here."

# The account's own pool and settings are not used.
mkdir "$work/home"
for name in $(env | sed -n 's/^\(CANHAZGPU_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER
# Packages in the account's home are still found.
export PYTHONUSERBASE="${PYTHONUSERBASE:-${HOME:-/root}/.local}"
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state"
export CANHAZGPU_POOL_DIRECTORY="$work/pool" CANHAZGPU_NOTIFY_TERMINALS=false

status=0
# Group names, separated by blanks.
# shellcheck disable=SC2086
PYTHONDONTWRITEBYTECODE=1 python3 "$here/check/main.py" "$binary" "$work" ${CHECK_GROUPS:-} || status=$?
exit "$status"
