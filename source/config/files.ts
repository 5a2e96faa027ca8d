/** Finds the config files that can be trusted, and parses each into a plain object. Loads only the parsers that are needed. */
import {lstatSync, statSync, type Stats} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {CanhazgpuError, messageOf} from '../errors.js';
import {effectiveUid, isOurs, isWritableByOthers, ownerText, readSafely} from '../security/safe-file.js';
import {isMachineRoot} from '../security/user-namespace.js';
import {findHome} from './home.js';

export type ConfigFile = {
	readonly file: string;
	readonly content: unknown;
	/**
	`machine`: for every account. `root`: for root alone. `own`: in the home directory. `named`: given with --config. `local`: in the working directory,
	from which only settings that are marked as harmless are read.
	*/
	readonly kind: 'machine' | 'root' | 'own' | 'named' | 'local';
	/** Whether accounts other than the owner may read the file. */
	readonly isExposed: boolean;
};

type FoundFiles = {
	/** The files in order of precedence: later files override earlier ones. */
	readonly files: readonly ConfigFile[];
	readonly warnings: readonly string[];
};

export type ConfigLocations = {
	/** The file of `--config`. If it is given, it must exist, and no other file is read. */
	readonly named: string | undefined;
	readonly readsDirectory?: boolean;
	/** Whether the named file may be a pipe or a device. Its writer can keep this program waiting. */
	readonly readsStreams?: boolean;
	readonly machineFile?: string;
	readonly rootFile?: string;
};

type FileText = {readonly text: string; readonly isExposed: boolean};

const longestBytes = 1_048_576;

const refuse = (file: string, problem: string, hint?: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `Cannot read the config file ${file}: ${problem}`, {
		hint: hint ?? 'Fix the file, or name another with --config.',
		cause,
	});

/** Thrown to ignore a file. The message is the reason, in one line. */
class PassedOver extends Error {}

/** The machine's settings for all accounts. */
export const usualMachineFile = '/etc/canhazgpu.yaml';

/** The machine's settings that only root may read, such as URLs of notification services. */
export const usualRootFile = '/etc/canhazgpu.root.yaml';

type ReadOptions = {
	readonly followsLinks?: boolean;
	readonly takesStreams?: boolean;
	/** Throws if the file cannot be trusted. */
	readonly judge?: (status: Stats) => undefined;
	/** The name by which to open the file, if it differs from the name shown to the user. */
	readonly openedAs?: string;
	/** The hint for a file that this account may not read. */
	readonly hintIfDenied?: string;
};

function readText(
	file: string,
	{followsLinks = true, takesStreams, judge, openedAs = file, hintIfDenied}: ReadOptions = {},
): FileText | undefined {
	const read = readSafely(openedAs, {longestBytes, followsLinks, takesStreams, judge});
	if (read.kind === 'refused') {
		throw refuse(file, read.problem, read.code === 'EACCES' ? hintIfDenied : undefined, read.cause);
	}

	if (read.kind === 'absent') {
		// A link whose target is missing, for example on an unmounted disk, is an error, because the user wants the target to be read.
		if (entryOf(openedAs)?.isSymbolicLink() === true) {
			throw refuse(file, 'it is a link to a missing file');
		}

		return undefined;
	}

	// Some editors write a byte order mark, which JSON parsers reject.
	const text = read.text.replace(/^\u{FEFF}/v, '');
	const isStream = !read.status.isFile();
	if (isStream) {
		streamTexts.set(file, text);
	}

	// eslint-disable-next-line no-bitwise -- permissions are bits
	return {text, isExposed: !isStream && (read.status.mode & 0o044) !== 0};
}

/** The contents of pipes, by name. A pipe can be read only once, but commands typed in the monitor read the config again. */
const streamTexts = new Map<string, string>();

/** Parses a file. Errors never show the message of the parser, which can quote a password from the file. */
export async function parse(file: string, text: string): Promise<unknown> {
	switch (path.extname(file).toLowerCase()) {
		case '.json': {
			try {
				return text.trim() === '' ? null : (JSON.parse(text) as unknown);
			} catch (error) {
				// Most of Node's messages end with the line number.
				const {line} = /\(line (?<line>\d+) column \d+\)$/v.exec(messageOf(error))?.groups ?? {};
				throw refuse(file, `it is not valid JSON${line === undefined ? '' : ` (line ${line})`}`, undefined, error);
			}
		}

		case '.toml': {
			const {parse: parseToml, TomlError} = await import('smol-toml');
			try {
				return parseToml(text, {maxDepth: 100});
			} catch (error) {
				const line = error instanceof TomlError ? ` (line ${error.line})` : '';
				throw refuse(file, `it is not valid TOML${line}`, undefined, error);
			}
		}

		default: {
			const {parseYaml, YamlProblem} = await import('./yaml.js');
			try {
				return parseYaml(text);
			} catch (error) {
				throw error instanceof YamlProblem ? refuse(file, `it is not valid YAML, ${error.message}`) : error;
			}
		}
	}
}

function entryOf(file: string): Stats | undefined {
	try {
		return lstatSync(file, {throwIfNoEntry: false});
	} catch {
		return undefined;
	}
}

/** Reads the machine's file. The file must belong to root, or to its directory's owner: in a user namespace, root's files have another owner. */
function readMachineFile(file: string, mode = '644'): FileText | undefined {
	return readText(file, {
		hintIfDenied: `Ask the administrator of this machine to make it readable: sudo chmod ${mode} ${file}`,
		judge(status) {
			const hint = `Make it writable only by root: sudo chown root ${file} && sudo chmod ${mode} ${file}`;
			if (status.uid !== 0 && status.uid !== statSync(path.dirname(file)).uid) {
				throw refuse(file, `it ${ownerText(status)}, but must belong to root`, hint);
			}

			if (isWritableByOthers(status)) {
				throw refuse(file, 'others can change it', hint);
			}
		},
	});
}

/** Reads a file in the home directory. Ignores files of other accounts, because `sudo` can keep HOME. Follows links, which many users have. */
function readHomeFile(file: string, entry: Stats): FileText | undefined {
	const mustBeOurs = (status: Stats, what: string): void => {
		if (!isOurs(status)) {
			throw new PassedOver(`${file} is ignored: ${what} ${ownerText(status)}`);
		}
	};

	mustBeOurs(entry, 'it');
	mustBeOurs(statSync(path.dirname(file)), 'its directory');
	return readText(file, {
		judge(status) {
			mustBeOurs(status, 'it');
			if (isWritableByOthers(status)) {
				throw refuse(file, 'others can change it', `Make it writable only by you: chmod go-w ${file}`);
			}
		},
	});
}

const localName = '.canhazgpu.yaml';

/** Reads the file in the working directory. Checks it carefully, because that directory can belong to any account. */
function readLocalFile(file: string, entry: Stats): FileText | undefined {
	const passOver = (why: string): PassedOver => new PassedOver(`${file} is ignored: ${why}`);
	if (effectiveUid() === 0) {
		throw passOver('root does not read settings from the current directory');
	}

	const directory = statSync('.');
	if (!isOurs(directory)) {
		throw passOver(`its directory ${ownerText(directory)}`);
	}

	if (!isOurs(entry)) {
		throw passOver(`it ${ownerText(entry)}`);
	}

	if (isWritableByOthers(directory)) {
		throw passOver('others can write to its directory');
	}

	return readText(file, {
		// Opens the file in the directory that was checked, even if the path leads elsewhere by now.
		openedAs: localName,
		followsLinks: false,
		judge(status) {
			if (!isOurs(status)) {
				throw passOver(`it ${ownerText(status)}`);
			}

			if (isWritableByOthers(status)) {
				throw passOver('others can change it');
			}
		},
	});
}

function findDirectory(): string | undefined {
	try {
		return process.cwd();
	} catch {
		return undefined;
	}
}

const homeNames = ['yaml', 'yml', 'json', 'toml'].map((extension) => `.canhazgpu.${extension}`);

function findHomeFile(): {readonly file: string; readonly entry: Stats} | undefined {
	const home = findHome();
	return (home === undefined ? [] : homeNames)
		.map((name) => ({file: path.join(home!, name), entry: entryOf(path.join(home!, name))}))
		.find((found): found is {file: string; entry: Stats} => found.entry !== undefined);
}

/**
Returns the file in which the user's own settings are saved: the named file, or else the file in the home directory.
@returns `text` and `mode` are undefined if the file is missing.
@throws CanhazgpuError `config` for a file that belongs to another account, is writable by others, or is unreadable.
*/
export function ownConfigFile(named: string | undefined): {
	readonly file: string;
	readonly text: string | undefined;
	readonly mode: number | undefined;
} {
	const home = findHome();
	if (named === undefined && home === undefined) {
		throw new CanhazgpuError('config', 'This account has no home directory for a config file', {
			hint: 'Set HOME to a directory of your own, or name a file: --config FILE',
		});
	}

	const found = named === undefined ? findHomeFile() : undefined;
	const file = named ?? found?.file ?? path.join(home!, homeNames[0]!);
	try {
		const entry = named === undefined ? found?.entry : entryOf(named);
		const text = entry === undefined ? undefined : readHomeFile(file, entry)?.text;
		// eslint-disable-next-line no-bitwise
		return {file, text, mode: text === undefined ? undefined : statSync(file).mode & 0o777};
	} catch (error) {
		throw error instanceof PassedOver
			? new CanhazgpuError('config', error.message, {
					hint: 'Run the command as the owner of that file, or name another file with --config.',
				})
			: error;
	}
}

const isSame = (a: Stats, b: Stats): boolean => a.dev === b.dev && a.ino === b.ino;

/** Reads the trusted config files of the machine, the user and the working directory. Throws `config` for a file that cannot be read or parsed. */
export async function readConfigFiles({
	named,
	readsDirectory = true,
	readsStreams = true,
	machineFile = usualMachineFile,
	rootFile = usualRootFile,
}: ConfigLocations): Promise<FoundFiles> {
	if (named !== undefined) {
		const known = streamTexts.get(named);
		const read = known === undefined ? readText(named, {takesStreams: readsStreams}) : {text: known, isExposed: false};
		if (read === undefined) {
			throw refuse(named, 'there is no such file');
		}

		const {text, isExposed} = read;
		return {files: [{file: named, content: await parse(named, text), kind: 'named', isExposed}], warnings: []};
	}

	const files: ConfigFile[] = [];
	const warnings: string[] = [];
	const add = async (file: string, kind: ConfigFile['kind'], read: () => FileText | undefined): Promise<void> => {
		try {
			const found = read();
			if (found !== undefined) {
				files.push({file, content: await parse(file, found.text), kind, isExposed: found.isExposed});
			}
		} catch (error) {
			if (!(error instanceof PassedOver)) {
				throw error;
			}

			warnings.push(error.message);
		}
	};

	await add(machineFile, 'machine', () => readMachineFile(machineFile));
	if (isMachineRoot()) {
		await add(rootFile, 'root', () => readMachineFile(rootFile, '600'));
	}

	const ofHome = findHomeFile();
	if (ofHome !== undefined) {
		const {file, entry} = ofHome;
		await add(file, 'own', () => readHomeFile(file, entry));
	}

	const directory = readsDirectory ? findDirectory() : undefined;
	const entry = directory === undefined ? undefined : entryOf(localName);
	// If the working directory is the home directory, its file is the user's own file, which was already read.
	if (directory !== undefined && entry !== undefined && (ofHome === undefined || !isSame(ofHome.entry, entry))) {
		const file = path.join(directory, localName);
		await add(file, 'local', () => readLocalFile(file, entry));
	}

	return {files, warnings};
}
