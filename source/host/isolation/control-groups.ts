import {readFileSync} from 'node:fs';
import path from 'node:path';
import {exactEnvironment, type Environment} from '../inherited/exact-text.js';

type ControlGroup = {
	/** Controllers of version 1, such as `devices`. Empty in version 2. */
	readonly controllers: readonly string[];
	readonly directory: string;
};

type Mounted = {
	readonly version: 1 | 2;
	readonly options: readonly string[];
	/** The mounted group. `point` is the path at which it is mounted. */
	readonly root: string;
	readonly point: string;
};

/** Decodes a path, in which the kernel writes spaces as `\040`. */
const plain = (text: string): string =>
	text.replaceAll(/\\(?<code>[0-7]{3})/gv, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 8)));

const mountedIn = (text: string): readonly Mounted[] =>
	text.split('\n').flatMap((line) => {
		const words = line.split(' ');
		const [root, point] = words.slice(3);
		// A dash ends the optional fields of the line.
		const [type, options = ''] = words.slice(words.indexOf('-') + 1).filter((_, index) => index !== 1);
		return root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')
			? []
			: [
					{
						version: type === 'cgroup' ? 1 : 2,
						options: options.split(','),
						root: plain(root),
						point: plain(point),
					} as const,
				];
	});

/** Returns a process's control groups, as far as this process sees them mounted: one group per hierarchy in version 1, one group in version 2. */
export const controlGroupsOf = (pid: number | 'self', procDirectory = '/proc'): readonly ControlGroup[] => {
	const mounts = mountedIn(readFileSync(path.join(procDirectory, 'self/mountinfo'), 'utf8'));
	const text = readFileSync(path.join(procDirectory, String(pid), 'cgroup'), 'utf8');
	return text.split('\n').flatMap((line) => {
		const [, names, group] = /^\d+:(?<names>[^:]*):(?<group>\/.*)$/v.exec(line) ?? [];
		if (names === undefined || group === undefined) {
			return [];
		}

		const controllers = names === '' ? [] : names.split(',');
		return mounts
			.filter(({version, options, root}) => {
				const isHierarchy =
					controllers.length === 0
						? version === 2
						: version === 1 && controllers.every((name) => options.includes(name));
				return isHierarchy && !path.relative(root, group).startsWith('..');
			})
			.slice(0, 1)
			.map(({root, point}) => ({controllers, directory: path.join(point, path.relative(root, group))}));
	});
};

/** Returns words to put before a command so that it runs in the groups: a shell writes its pid to the groups' files, then executes the command. */
export const joiningWords = (groups: readonly string[], environment: Environment): readonly [string, ...string[]] => {
	const files = groups.map((directory) => path.join(directory, 'cgroup.procs'));
	// Most shells drop environment entries with names that shell variables cannot have, such as functions of bash. env(1) restores them.
	// env would treat a command with `=` in its name as an entry, so nice(1) executes the command.
	const odd = Object.entries(exactEnvironment(environment)).flatMap(([name, value]) =>
		value === undefined || name === '' || /^[A-Z_a-z]\w*$/v.test(name) ? [] : [`${name}=${value}`],
	);
	const script = `for file in ${files.map((_, index) => `"\${${index + 1}}"`).join(' ')}; do echo $$ >"$file" || exit 126; done; shift ${files.length}; exec "$@"`;
	return [
		'/bin/sh',
		'-c',
		script,
		'sh',
		...files,
		...(odd.length === 0 ? [] : ['/usr/bin/env', ...odd, 'nice', '-n', '0']),
	];
};
