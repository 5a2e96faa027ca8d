#compdef canhazgpu chg
# Completion of canhazgpu for zsh.
#   in this shell:   eval "$(canhazgpu completion zsh)"
#   in every shell:  that line, in ~/.zshrc; or this text as a file _canhazgpu in a directory of $fpath
# The program itself returns the candidates.

_canhazgpu() {
	local program=${(Q)words[1]} kind candidate about line tab=$'\t'
	local -a answer offered shown expl
	local -i width=0
	# The name may need expansion by the shell.
	[[ -n ${commands[$program]} || -x $program ]] || program=canhazgpu
	answer=("${(@f)$("$program" --complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
	kind=$answer[1]
	shift answer
	case $kind in
		words)
			# Without _describe, which reverses words that share a description.
			offered=("${(@)answer%%$tab*}")
			for candidate in "${(@)offered}"; do
				((width = ${#candidate} > width ? ${#candidate} : width))
			done
			for candidate in "${(@)answer}"; do
				about=${candidate#*$tab}
				line="${(r:$width:)candidate%%$tab*}${about:+  -- $about}"
				shown+=("$line[1,COLUMNS-1]")
			done
			_wanted -V canhazgpu expl canhazgpu compadd -d shown -a offered
			;;
		files)
			compset -P '--*='
			_files
			;;
		command)
			# The command after -- has its own completion.
			local -i place=${words[(i)--]}
			shift $place words
			((CURRENT -= place))
			_normal
			;;
	esac
}

if [[ ${funcstack[1]} == _canhazgpu ]]; then
	_canhazgpu "$@"
else
	if ((! $+functions[compdef])); then
		autoload -Uz compinit
		compinit -i
	fi

	compdef _canhazgpu canhazgpu chg
fi
