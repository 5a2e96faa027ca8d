#!/bin/sh
# Starts canhazgpu with Node.js.
#
# Node.js changes what it was started with: it resets ignored signals, raises the limit of open files, and closes inherited files in its children.
# `run` and `retry` give a job what a shell would give it. So this script notes these facts first, in CANHAZGPU_STARTED, which
# source/host/inherited/inherited.ts reads and removes. The variables here have a prefix: without it, a variable that the caller has exported would
# reach the job with a changed value.

if ! command -v node >/dev/null; then
	echo 'Error: canhazgpu needs Node.js 22.15 or newer, and there is no node in PATH' >&2
	echo 'Install Node.js (https://nodejs.org), or take the program that needs none: the archive of a release' >&2
	exit 1
fi

# npm installs this file as a link.
chg_program=$(readlink -f "$0")
chg_program=${chg_program%/*}/../dist/cli.js

note_start() {
	# The ignored signals, in hexadecimal. Read in a child process (sed), because bash and busybox ignore SIGQUIT in the shell itself.
	chg_signals=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status 2>/dev/null)

	# The open files, except those that the shell has opened to read this script.
	chg_files=
	for chg_file in /proc/$$/fd/*; do
		if [ -e "$chg_file" ] && ! [ "$chg_file" -ef "$0" ]; then
			chg_files=$chg_files,${chg_file##*/}
		fi
	done

	# The environment in bytes, because a shell drops entries that it cannot name. Linux allows 128 KiB in one variable, and about 2 MiB in all.
	chg_environment=$(od -A n -v -t x1 /proc/$$/environ 2>/dev/null)
	if [ ${#chg_environment} -ge 120000 ] || [ "$1" -ge 1500000 ]; then
		chg_environment=
	fi

	CANHAZGPU_STARTED="$$ $chg_signals $(ulimit -S -n) ${chg_files#,} $chg_environment"
	export CANHAZGPU_STARTED
}

# Only these commands need the facts, which take a few milliseconds to collect. The words may also stand for something else in the line: that does
# no harm.
case "$*" in
	*run* | *reserve* | *retry*)
		chg_words=$*
		note_start ${#chg_words}
		;;
esac

exec node "$chg_program" "$@"
