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
Runs once before all tests. Provides a redis-server, bubblewrap, a browser, the built program and a temporary directory. The returned function
cleans up.
*/
export default function setUp(): () => void {
	// Other accounts must be able to read the tests' files. Tests of the umask set their own.
	process.umask(0o022);
	ensureRedis();
	ensureBubblewrap();
	ensureChromium();
	if (!existsSync(`${root}/dist/cli.js`)) {
		execFileSync('npm', ['run', '--silent', 'build'], {cwd: root, stdio: 'inherit'});
	}

	const temporary = mkdtempSync(path.join(tmpdir(), 'canhazgpu-tests-'));
	// Tests that run as other accounts must be able to enter this directory.
	chmodSync(temporary, 0o755);
	process.env['TMPDIR'] = temporary;
	return () => {
		rmSync(temporary, {recursive: true, force: true});
	};
}
