/**
Checks types, layers and the form of the program, all at once. Prints what each one says when it ends, and fails when one does. The form of the
tests would take as long again: `npm run lint` checks it.
*/
import {spawn} from 'node:child_process';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {once} from 'node:events';

const run = async (script, ...words) => {
	const child = spawn('npm', ['run', '--silent', script, '--', ...words], {stdio: ['ignore', 'pipe', 'pipe']});
	const [output, errors, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	process.stdout.write(output + errors);
	return exitCode === 0;
};

const results = await Promise.all([run('lint', 'source', 'media'), run('typecheck'), run('layers')]);
process.exitCode = results.every(Boolean) ? 0 : 1;
