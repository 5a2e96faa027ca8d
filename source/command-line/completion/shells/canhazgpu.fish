# Completion of canhazgpu for fish.
#   in this shell:   canhazgpu completion fish | source
#   in every shell:  that line, in ~/.config/fish/config.fish
# The program itself returns the candidates.

function __canhazgpu_complete
	set -l before (commandline -opc)
	set -l word (commandline -ct)
	set -l program $before[1]
	# The name may be a function, or need expansion by the shell.
	command -q $program; or set program canhazgpu
	set -l answer (command $program --complete fish $before[2..-1] "$word" 2>/dev/null </dev/null)
	switch "$answer[1]"
		case words
			printf '%s\n' $answer[2..-1]
		case files
			set -l flag (string match -r -- '^--[^=]*=' "$word")
			set -l file (string replace -r -- '^--[^=]*=' '' "$word")
			__fish_complete_path "$file" | string replace -r -- '^' "$flag"
		case command
			# The command after -- has its own completion.
			set -l place (contains -i -- -- $before)
			complete -C (string join ' ' -- (string escape -- $before[(math $place + 1)..-1]) "$word")
	end
end

for name in canhazgpu chg
	complete -c $name -e
	complete -c $name -f -k -a '(__canhazgpu_complete)'
end
