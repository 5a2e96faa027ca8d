/** Finds the shells that completion supports, and tries to install those that are missing. */
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** The file whose existence shows that a Debian package is installed. */
const files: Readonly<Record<string, string>> = {
	bash: 'bin/bash',
	zsh: 'bin/zsh',
	fish: 'bin/fish',
	'bash-completion': 'share/bash-completion/bash_completion',
};

export type ShellPackage = 'bash' | 'zsh' | 'fish' | 'bash-completion';

const placeOf = (name: ShellPackage): string | undefined =>
	['/usr', '/usr/local', '/opt/homebrew', '/']
		.map((prefix) => path.join(prefix, files[name]!))
		.find((file) => existsSync(file));

const installMs = 240_000;

function install(names: readonly ShellPackage[]): void {
	const apt = (...parameters: readonly string[]): void => {
		execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=60', ...parameters], {
			stdio: ['ignore', 'ignore', 'pipe'],
			timeout: installMs,
			env: {...process.env, DEBIAN_FRONTEND: 'noninteractive'},
		});
	};

	try {
		apt('install', '-y', '--no-install-recommends', ...names);
	} catch {
		apt('update');
		apt('install', '-y', '--no-install-recommends', ...names);
	}
}

/** Returns the path of each shell. A shell that cannot be installed is undefined, and a message says that its tests are skipped. */
export function ensureShells(): Readonly<Record<ShellPackage, string | undefined>> {
	const names = Object.keys(files) as readonly ShellPackage[];
	const missing = names.filter((name) => placeOf(name) === undefined);
	let reason = 'only root may install them';
	if (missing.length > 0 && process.getuid?.() === 0) {
		try {
			install(missing);
		} catch (error) {
			reason = error instanceof Error ? error.message.split('\n', 1)[0]! : String(error);
		}
	}

	const places = Object.fromEntries(names.map((name) => [name, placeOf(name)]));
	const without = names.filter((name) => places[name] === undefined);
	if (without.length > 0) {
		process.stderr.write(
			`\nNO ${without.join(', ')}: the tests of completion in them are LEFT OUT (${reason}).\nInstall them: apt-get install ${without.join(' ')}\n\n`,
		);
	}

	return places as Readonly<Record<ShellPackage, string | undefined>>;
}
