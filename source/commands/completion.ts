import path from 'node:path';
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import bash from '../command-line/completion/shells/canhazgpu.bash';
import fish from '../command-line/completion/shells/canhazgpu.fish';
import zsh from '../command-line/completion/shells/canhazgpu.zsh';
import type {Command, Input} from '../command-line/command.js';

const scripts: Readonly<Record<string, string>> = {bash, zsh, fish};

const names = Object.keys(scripts);

const hint = `Name one of ${new Intl.ListFormat('en').format(names)}, such as: canhazgpu completion bash`;

function scriptFor({words}: Input, shellPath: string | undefined): {readonly shell: string; readonly script: string} {
	const [named, ...others] = words;
	if (others.length > 0) {
		throw new CanhazgpuError(
			'usage',
			`completion takes one shell, but was given ${words.length}: ${cutShort(words.join(' '))}`,
			{
				hint,
			},
		);
	}

	const shell = named ?? (shellPath === undefined ? undefined : path.basename(shellPath));
	const script = shell !== undefined && Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
	if (shell !== undefined && script !== undefined) {
		return {shell, script};
	}

	throw new CanhazgpuError(
		'usage',
		named === undefined
			? shell === undefined
				? 'No shell was named, and SHELL is not set'
				: `There is no completion for your shell, ${quoted(shell)}`
			: `There is no completion for ${quoted(named)}`,
		{hint},
	);
}

export const completion: Command = {
	name: 'completion',
	summary: 'Print the completion script for your shell',
	usage: `[${names.join('|')}]`,
	examples: [
		['eval "$(canhazgpu completion bash)"', 'in ~/.bashrc, or with zsh in ~/.zshrc'],
		['canhazgpu completion fish | source', 'in ~/.config/fish/config.fish'],
	],
	flags: {},
	takesWords: true,
	words: names,
	async run(app, input) {
		const {shell, script} = scriptFor(input, app.environment['SHELL']);
		app.print(script.trimEnd());
		if (app.isTerminal) {
			const use = shell === 'fish' ? 'canhazgpu completion fish | source' : `eval "$(canhazgpu completion ${shell})"`;
			app.remark(`\nTo load this script in ${shell}: ${use}`);
		}

		return 0;
	},
};
