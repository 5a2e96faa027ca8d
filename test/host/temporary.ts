import {existsSync} from 'node:fs';
import {chmod, mkdir, mkdtemp, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Creates a directory with these files. Files whose text starts with `#!` are executable. */
export const createFiles = async (files: Readonly<Record<string, string>>): Promise<string> => {
	const directory = await mkdtemp(path.join(os.tmpdir(), 'host-'));
	await createFilesIn(directory, files);
	return directory;
};

export const createFilesIn = async (directory: string, files: Readonly<Record<string, string>>): Promise<void> => {
	for (const [name, text] of Object.entries(files)) {
		const file = path.join(directory, name);
		await mkdir(path.dirname(file), {recursive: true});
		await writeFile(file, text);
		await chmod(file, text.startsWith('#!') ? 0o755 : 0o644);
	}
};

/** Returns a function that names this account as the owner of every existing file. */
export const everythingIsOf = (uid: number) => (file: string) => (existsSync(file) ? uid : undefined);
