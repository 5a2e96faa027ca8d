import {readFileSync, statSync} from 'node:fs';
import {CanhazgpuError} from '../../errors.js';

const problems: Readonly<Record<string, string>> = {
	ENOENT: 'there is no such file',
	EACCES: 'permission denied',
	EISDIR: 'it is a directory',
};

/**
The first line of a file that only its owner may read.

@throws CanhazgpuError `config` when others may read it, or it cannot be read.
*/
export function readPasswordFile(file: string): string {
	try {
		// Anybody but the owner: such a password is no secret.
		// eslint-disable-next-line no-bitwise
		if ((statSync(file).mode & 0o077) !== 0) {
			throw new CanhazgpuError('config', `redis.password_file: ${file} can be read by others`, {
				hint: `chmod 600 ${file}`,
			});
		}

		const password = readFileSync(file, 'utf8').split('\n', 1)[0]!.trim();
		if (password === '') {
			throw new CanhazgpuError('config', `redis.password_file: the first line of ${file} is empty`, {
				hint: 'Write the password there.',
			});
		}

		return password;
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			throw error;
		}

		const {code} = error as NodeJS.ErrnoException;
		throw new CanhazgpuError(
			'config',
			`redis.password_file: cannot read ${file}: ${problems[code ?? ''] ?? code ?? 'unknown error'}`,
			{
				hint: 'Mend redis.password_file, or the file. It belongs to whoever runs canhazgpu.',
				cause: error,
			},
		);
	}
}
