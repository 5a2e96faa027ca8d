/**
Finds the config files and reads each into a plain object. Parsers load only for the formats that are there.
*/
import {readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {CanhazgpuError} from './errors.js';

export type ConfigFile = {
	readonly file: string;
	readonly content: unknown;
	/** Of the directory one happens to be in, which may be anybody's: it must not name programs to run. */
	readonly isForeign: boolean;
};

/** Far more than any config needs; keeps a wrong path (a log, a device) from being read whole. */
const longestBytes = 1_000_000;

const refuse = (file: string, problem: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `Cannot read the config file ${file}: ${problem}`, {
		hint: 'Mend the file, or name another with --config.',
		cause,
	});

/** Undefined when there is no such file. */
function readText(file: string): string | undefined {
	try {
		const content = readFileSync(file);
		if (content.length > longestBytes) {
			throw refuse(file, 'it is larger than 1 MB');
		}

		return content.toString('utf8');
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			throw error;
		}

		const {code} = error as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') {
			return undefined;
		}

		throw refuse(
			file,
			code === 'EACCES' ? 'permission denied' : code === 'EISDIR' ? 'it is a directory' : String(code),
			error,
		);
	}
}

/** The first line of a parser's message: the rest draws the source, which may hold a password. */
const firstLine = (error: unknown): string =>
	(error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!;

async function parse(file: string, text: string): Promise<unknown> {
	try {
		switch (path.extname(file).toLowerCase()) {
			case '.json': {
				// JSON's own message quotes the text around the error.
				return JSON.parse(text) as unknown;
			}

			case '.toml': {
				const {parse: parseToml} = await import('smol-toml');
				return parseToml(text);
			}

			default: {
				const {parse: parseYaml} = await import('./config-yaml.js');
				return parseYaml(text, {logLevel: 'error'}) as unknown;
			}
		}
	} catch (error) {
		throw refuse(file, path.extname(file) === '.json' ? 'it is not valid JSON' : firstLine(error), error);
	}
}

/** Each inner list: the first that exists counts. Later lists override earlier ones. */
const usualPlaces = (): ReadonlyArray<{readonly files: readonly string[]; readonly isForeign: boolean}> => [
	{files: ['/etc/canhazgpu.yaml'], isForeign: false},
	{
		files: ['yaml', 'yml', 'json', 'toml'].map((extension) => path.join(homedir(), `.canhazgpu.${extension}`)),
		isForeign: false,
	},
	{files: [path.resolve('.canhazgpu.yaml')], isForeign: true},
];

function firstOf(files: readonly string[]): {readonly file: string; readonly text: string} | undefined {
	for (const file of files) {
		const text = readText(file);
		if (text !== undefined) {
			return {file, text};
		}
	}

	return undefined;
}

/**
Reads the config files, weakest first. A named file must exist and is then the only one.

@throws CanhazgpuError `config` naming the file that cannot be read or parsed.
*/
export async function readConfigFiles(named: string | undefined): Promise<readonly ConfigFile[]> {
	if (named !== undefined) {
		const text = readText(named);
		if (text === undefined) {
			throw refuse(named, 'there is no such file');
		}

		return [{file: named, content: await parse(named, text), isForeign: false}];
	}

	const found: ConfigFile[] = [];
	for (const {files, isForeign} of usualPlaces()) {
		const first = firstOf(files);
		// Run in the home directory, the last place is the one before it.
		if (first !== undefined && found.every(({file}) => file !== first.file)) {
			found.push({file: first.file, content: await parse(first.file, first.text), isForeign});
		}
	}

	return found;
}
