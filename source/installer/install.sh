#!/bin/sh
# Installs canhazgpu, or removes it. See usage below.
set -eu
# The directories that it makes are for everybody, too.
umask 022

usage() {
	cat <<'END'
Usage: ./install.sh [--prefix DIRECTORY] [--uninstall]

Installs the program that lies beside this script, for everybody on this machine:
  PREFIX/bin/canhazgpu, and chg as a short name
  completions of bash, zsh and fish
  the man pages
  a systemd unit for the dashboard, which is not started (with the prefix /usr/local or /usr)
Files that are there from an earlier version are replaced.

  --prefix DIRECTORY  where to install; /usr/local by default
  --uninstall         removes what was installed there. The pool and its reservations stay.

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
*) refuse "--prefix must be an absolute path, and this is $prefix" ;;
esac
[ "$prefix" = / ] || prefix=${prefix%/}

# Which files were installed, so that these and no others are removed.
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
	[ -f "$list" ] || fail "Nothing was installed in $prefix by this script" 'Another place: ./install.sh --uninstall --prefix DIRECTORY'
	if grep -q '/systemd/system/' "$list" && [ -d /run/systemd/system ]; then
		systemctl disable --now canhazgpu-web.service canhazgpu-keep.service >/dev/null 2>&1 || :
	fi
	remove_listed
	printf 'Removed canhazgpu from %s. The pool stays; see: Remove it, in the help topic setup.\n' "$prefix"
	exit 0
fi

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
program=$here/canhazgpu
[ -f "$program" ] && [ -x "$program" ] || fail "There is no program canhazgpu beside $0" 'Unpack the whole archive, and run install.sh in it.'
version=$("$program" --version) || fail "$program does not run on this machine ($(uname -s) $(uname -m))" 'Take the archive that is made for it.'

# The program of the same name in Go, or one that npm installed, is not ours to replace.
for name in canhazgpu chg; do
	file=$prefix/bin/$name
	if [ -e "$file" ] || [ -L "$file" ]; then
		[ -f "$list" ] && grep -qxF "$file" "$list" ||
			fail "$file is there already, and was not installed by this script" 'Remove it first (with npm: npm uninstall --global canhazgpu), or take another --prefix.'
	fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
# Everything is made before anything is replaced.
for shell in bash zsh fish; do
	"$program" completion "$shell" >"$work/$shell"
done

# Put in place by a rename: a program that runs goes on with the file that it has.
put() {
	mkdir -p "$(dirname "$3")"
	cp "$1" "$3.new"
	chmod "$2" "$3.new"
	mv -f "$3.new" "$3"
	printf '%s\n' "$3" >>"$work/installed"
}

link() {
	mkdir -p "$(dirname "$2")"
	ln -sfn "$1" "$2"
	printf '%s\n' "$2" >>"$work/installed"
}

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

# What an earlier version had and this one has not.
if [ -f "$list" ]; then
	grep -vxF -f "$work/installed" "$list" >"$work/old" || :
	while IFS= read -r file; do
		case $file in
		"$prefix"/*) rm -f "$file" ;;
		esac
	done <"$work/old"
fi
put "$work/installed" 644 "$list"

printf 'Installed canhazgpu %s in %s.\n' "$version" "$prefix"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) printf 'It is not in your PATH yet: export PATH="%s/bin:$PATH"\n' "$prefix" ;;
esac
printf 'Next, once for this machine: sudo "%s/bin/canhazgpu" admin --store embedded\n' "$prefix"
if [ -f "$prefix/lib/systemd/system/canhazgpu-web.service" ]; then
	printf 'The dashboard on 127.0.0.1:8080, if you want it: sudo systemctl enable --now canhazgpu-web\n'
	printf 'To let idle GPUs go back to the pool (canhazgpu help reclaim): sudo systemctl enable --now canhazgpu-keep\n'
fi
