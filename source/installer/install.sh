#!/bin/sh
# Installs canhazgpu, or removes it. See usage below.
set -eu
# Other accounts must be able to read the new files and directories.
umask 022

usage() {
	cat <<'END'
Usage: ./install.sh [--prefix DIRECTORY] [--uninstall]

Installs the program next to this script for everyone on this machine:
  PREFIX/bin/canhazgpu, and chg as a short name
  completion for bash, zsh and fish
  the man pages
  systemd units, which are not started (only with the prefix /usr/local or /usr)
Files of an earlier version are replaced.

  --prefix DIRECTORY  where to install (default: /usr/local)
  --uninstall         remove what was installed there, but keep the pool and its reservations

Exit codes: 0 done, 1 failed, 2 wrong usage.
END
}

fail() {
	printf 'Error: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf '%s\n' "$2" >&2
	exit 1
}

refuse() {
	printf 'Error: %s\n%s\n' "$1" 'See ./install.sh --help' >&2
	exit 2
}

prefix=/usr/local
action=install
while [ $# -gt 0 ]; do
	case $1 in
	--prefix)
		[ $# -ge 2 ] || refuse '--prefix needs a directory'
		prefix=$2
		shift
		;;
	--prefix=*) prefix=${1#--prefix=} ;;
	--uninstall) action=uninstall ;;
	-h | --help)
		usage
		exit 0
		;;
	*) refuse "install.sh has no option $1" ;;
	esac
	shift
done

case $prefix in
/*) ;;
'') refuse '--prefix needs a directory' ;;
*) refuse "--prefix must be an absolute path, not $prefix" ;;
esac
[ "$prefix" = / ] || prefix=${prefix%/}

# The list of installed files, so that only these are removed.
list=$prefix/share/canhazgpu/installed-files

writable() {
	place=$1
	while [ ! -e "$place" ]; do place=$(dirname "$place"); done
	[ -d "$place" ] && [ -w "$place" ]
}
writable "$prefix" || fail "$prefix cannot be written" "As an administrator: sudo ./install.sh. For yourself alone: ./install.sh --prefix \"\$HOME/.local\""

remove_listed() {
	while IFS= read -r file; do
		case $file in
		"$prefix"/*) rm -f "$file" ;;
		esac
	done <"$list"
	rm -f "$list"
	rmdir "$prefix/share/canhazgpu" "$prefix/share/doc/canhazgpu" 2>/dev/null || :
}

if [ "$action" = uninstall ]; then
	[ -f "$list" ] || fail "Nothing was installed in $prefix by this script" 'If it is elsewhere: ./install.sh --uninstall --prefix DIRECTORY'
	if grep -q '/systemd/system/' "$list" && [ -d /run/systemd/system ]; then
		systemctl disable --now canhazgpu-web.service canhazgpu-keep.service >/dev/null 2>&1 || :
	fi
	remove_listed
	printf 'Removed canhazgpu from %s. The pool was not removed. To remove it, see the help topic setup.\n' "$prefix"
	exit 0
fi

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$here/canhazgpu
[ -f "$program" ] && [ -x "$program" ] || fail "There is no program canhazgpu next to $0" 'Unpack the whole archive, and run install.sh in it.'
version=$("$program" --version) || fail "$program does not run on this machine ($(uname -s) $(uname -m))" 'Download the archive for this kind of machine.'

# Does not replace the Go program of the same name, or a program that npm installed.
for name in canhazgpu chg; do
	file=$prefix/bin/$name
	if [ -e "$file" ] || [ -L "$file" ]; then
		[ -f "$list" ] && grep -qxF "$file" "$list" ||
			fail "$file already exists, and was not installed by this script" 'Remove it first (with npm: npm uninstall --global canhazgpu), or use another --prefix.'
	fi
done

work=$(mktemp -d)
new=$work/new
trap 'rm -rf "$work" "$new"' EXIT
trap 'exit 1' HUP INT TERM
# All new files are created before any file is replaced.
for shell in bash zsh fish; do
	"$program" completion "$shell" >"$work/$shell"
done

# Replaces a file by a rename, so that a running program keeps its old file.
replace() {
	new=$3.new
	cp "$1" "$new"
	chmod "$2" "$new"
	mv -f "$new" "$3"
}

# Adds a file to the list before the file is written, so that an interrupted installation can be repeated or removed.
record() {
	printf '%s\n' "$1" >>"$work/installed"
	printf '%s\n' "$1" >>"$list"
	mkdir -p "$(dirname "$1")"
}

put() {
	record "$3"
	replace "$1" "$2" "$3"
}

link() {
	record "$2"
	ln -sfn "$1" "$2"
}

mkdir -p "$(dirname "$list")"
[ -f "$list" ] && is_update=yes || is_update=

put "$program" 755 "$prefix/bin/canhazgpu"
link canhazgpu "$prefix/bin/chg"
put "$work/bash" 644 "$prefix/share/bash-completion/completions/canhazgpu"
link canhazgpu "$prefix/share/bash-completion/completions/chg"
put "$work/zsh" 644 "$prefix/share/zsh/site-functions/_canhazgpu"
put "$work/fish" 644 "$prefix/share/fish/vendor_completions.d/canhazgpu.fish"
link canhazgpu.fish "$prefix/share/fish/vendor_completions.d/chg.fish"
for page in "$here"/man/*.[17]; do
	put "$page" 644 "$prefix/share/man/man${page##*.}/${page##*/}"
done
put "$here/licenses.txt" 644 "$prefix/share/doc/canhazgpu/licenses.txt"
case $prefix in
/usr | /usr/local)
	for unit in canhazgpu-web.service canhazgpu-keep.service; do
		sed "s|@PREFIX@|$prefix|" "$here/$unit" >"$work/unit"
		put "$work/unit" 644 "$prefix/lib/systemd/system/$unit"
	done
	;;
esac

# Removes files of an earlier version that this version does not have.
if [ -f "$list" ]; then
	grep -vxF -f "$work/installed" "$list" >"$work/old" || :
	while IFS= read -r file; do
		case $file in
		"$prefix"/*) rm -f "$file" ;;
		esac
	done <"$work/old"
fi
replace "$work/installed" 644 "$list"

printf 'Installed canhazgpu %s in %s.\n' "$version" "$prefix"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) printf 'Its directory is not in your PATH yet: export PATH="%s/bin:$PATH"\n' "$prefix" ;;
esac
printf 'To create a pool, once for this machine: sudo "%s/bin/canhazgpu" admin --store embedded\n' "$prefix"
if [ -f "$prefix/lib/systemd/system/canhazgpu-web.service" ]; then
	if [ "$is_update" ]; then
		printf 'To restart the services that run: sudo systemctl daemon-reload && sudo systemctl try-restart canhazgpu-web canhazgpu-keep\n'
	fi
	printf 'To start the dashboard on 127.0.0.1:8080: sudo systemctl enable --now canhazgpu-web\n'
	printf 'To let idle GPUs go back to the pool (canhazgpu help reclaim): sudo systemctl enable --now canhazgpu-keep\n'
fi
