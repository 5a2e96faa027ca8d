/**
Checks types, form and layers, all at once: each of them uses one processor. Prints what each one says when it ends, and fails when one does.
*/
import {spawn} from 'node:child_process';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {once} from 'node:events';

const run = async (script) => {
	const child = spawn('npm', ['run', '--silent', script], {stdio: ['ignore', 'pipe', 'pipe']});
	const [output, errors, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	process.stdout.write(output + errors);
	return exitCode === 0;
};

const results = await Promise.all(['lint', 'typecheck', 'layers'].map(run));
process.exitCode = results.every(Boolean) ? 0 : 1;
