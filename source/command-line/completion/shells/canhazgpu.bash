# Completion of canhazgpu for bash.
#   in this shell:   eval "$(canhazgpu completion bash)"
#   in every shell:  that line, in ~/.bashrc
# The program itself returns the candidates.

_canhazgpu() {
	# The words as typed, because bash also splits them at = and :.
	local line=${COMP_LINE:0:COMP_POINT} words=() gap piece i
	for ((i = 0; i <= COMP_CWORD; i++)); do
		gap=${line%%[![:space:]]*}
		line=${line#"$gap"}
		piece=${COMP_WORDS[i]}
		((i == COMP_CWORD)) && piece=$line
		line=${line#"$piece"}
		if [[ -n $gap ]] || ((${#words[@]} == 0)); then
			words+=("$piece")
		else
			words[${#words[@]} - 1]+=$piece
		fi
	done

	# Bash keeps their quotes.
	local program=${words[0]} word=${words[${#words[@]} - 1]} before=() kind='' answer=() candidate
	((${#words[@]} > 2)) && before=("${words[@]:1:${#words[@]}-2}") && before=("${before[@]//[\\\"\']/}")
	# The name may be an alias, or need expansion by the shell.
	[[ -n $(type -P -- "$program") ]] || program=canhazgpu
	while IFS= read -r candidate; do
		if [[ -z $kind ]]; then
			kind=$candidate
		else
			answer+=("$candidate")
		fi
	done < <("$program" --complete bash "${before[@]}" "$word" 2>/dev/null </dev/null)

	COMPREPLY=()
	case $kind in
		words)
			# Bash replaces only the text after the last separator.
			local signs=${COMP_WORDBREAKS//[!=:@]/} kept=''
			[[ -n $signs ]] && kept=${word%"${word##*[$signs]}"}
			for candidate in "${answer[@]}"; do
				COMPREPLY+=("${candidate#"$kept"}")
			done
			compopt -o nosort 2>/dev/null
			;;
		files)
			[[ $word == --*=* ]] && word=${word#*=}
			_canhazgpu_files "$word"
			;;
		command)
			for ((i = 1; i < COMP_CWORD; i++)); do
				[[ ${COMP_WORDS[i]} == -- ]] && break
			done
			_canhazgpu_command $((i + 1))
			;;
	esac
}

_canhazgpu_files() {
	local file
	compopt -o filenames 2>/dev/null
	while IFS= read -r file; do
		COMPREPLY+=("$file")
	done < <(compgen -f -- "$1")
}

# Completes the command after -- with its own completion. $1: its position.
_canhazgpu_command() {
	local name
	for name in _comp_command_offset _command_offset; do
		if declare -F "$name" >/dev/null; then
			"$name" "$1"
			return
		fi
	done

	# Without bash-completion: command names, or the command's own completion function.
	local whole=${#COMP_LINE} spec
	COMP_LINE=${COMP_LINE#*[[:space:]]--}
	COMP_LINE=${COMP_LINE#"${COMP_LINE%%[![:space:]]*}"}
	((COMP_POINT -= whole - ${#COMP_LINE}))
	COMP_WORDS=("${COMP_WORDS[@]:$1}")
	((COMP_CWORD -= $1))
	local word=${COMP_WORDS[COMP_CWORD]}
	if ((COMP_CWORD > 0)); then
		spec=$(complete -p -- "${COMP_WORDS[0]##*/}" 2>/dev/null)
		if [[ $spec =~ ' -F '([^ ]+) ]]; then
			"${BASH_REMATCH[1]}" "${COMP_WORDS[0]}" "$word" "${COMP_WORDS[COMP_CWORD - 1]}"
			return
		fi
	elif [[ $word != */* ]]; then
		while IFS= read -r name; do
			COMPREPLY+=("$name")
		done < <(compgen -c -- "$word" | sort -u)
		return
	fi

	_canhazgpu_files "$word"
}

complete -F _canhazgpu canhazgpu chg
