import {CanhazgpuError} from '../../errors.js';
import {effectiveUid, ownerText, readSafely} from '../../security/safe-file.js';

const longestBytes = 65_536;

const refuse = (problem: string, hint: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `redis.password_file: ${problem}`, {hint, cause});

/**
The first line of a file that belongs to this account and that no one else may read.

@throws CanhazgpuError `config` when it is another account's, others may read it, or it cannot be read.
*/
export function readPasswordFile(file: string): string {
	let distrust: CanhazgpuError | undefined;
	const read = readSafely(file, {
		longestBytes,
		followsLinks: true,
		judge(status) {
			// Root could read anybody's, and would send it to wherever the configuration says.
			if (status.uid !== effectiveUid()) {
				distrust = refuse(`${file} ${ownerText(status)}`, 'Name a file of your own.');
			}

			// Anybody but the owner: such a password is no secret.
			// eslint-disable-next-line no-bitwise
			else if ((status.mode & 0o077) !== 0) {
				distrust = refuse(`${file} can be read by others`, `chmod 600 ${file}`);
			}

			return distrust?.message;
		},
	});
	if (distrust !== undefined) {
		throw distrust;
	}

	if (read.kind !== 'read') {
		const problem = read.kind === 'absent' ? 'there is no such file' : read.problem;
		throw refuse(
			`cannot read ${file}: ${problem}`,
			'Fix redis.password_file, or the file. It belongs to the account that runs canhazgpu.',
			read.kind === 'refused' ? read.cause : undefined,
		);
	}

	const password = read.text.split('\n', 1)[0]!.trim();
	if (password === '') {
		throw refuse(`the first line of ${file} is empty`, 'Write the password there.');
	}

	return password;
}
