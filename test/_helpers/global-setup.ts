import {execFileSync} from 'node:child_process';
import {chmodSync, existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {ensureBubblewrap} from './packages/find-bubblewrap.js';
import {ensureChromium} from './packages/find-chromium.js';
import {ensureRedis} from './packages/find-redis.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
Runs once, before all tests: they need a real redis-server, bubblewrap, a browser, the built program, and a place for temporary files, all of which are
removed in the end.
*/
export default function setUp(): () => void {
	// What the tests prepare for other accounts is for these to read; tests of the umask set one of their own.
	process.umask(0o022);
	ensureRedis();
	ensureBubblewrap();
	ensureChromium();
	if (!existsSync(`${root}/dist/cli.js`)) {
		execFileSync('npm', ['run', '--silent', 'build'], {cwd: root, stdio: 'inherit'});
	}

	const temporary = mkdtempSync(path.join(tmpdir(), 'canhazgpu-tests-'));
	// Some tests are other users, who must be able to enter.
	chmodSync(temporary, 0o755);
	process.env['TMPDIR'] = temporary;
	return () => {
		rmSync(temporary, {recursive: true, force: true});
	};
}
