import {readFileSync, statSync} from 'node:fs';
import {CanhazgpuError} from '../../errors.js';

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

		return readFileSync(file, 'utf8').split('\n', 1)[0]!.trim();
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			throw error;
		}

		throw new CanhazgpuError(
			'config',
			`redis.password_file: cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`,
			{
				cause: error,
			},
		);
	}
}
