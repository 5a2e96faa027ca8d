import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {ensureRedis} from './find-redis.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs once, before all tests: they need a real redis-server, and the built program. */
export default function setUp(): void {
	ensureRedis();
	if (!existsSync(`${root}/dist/cli.js`)) {
		execFileSync('npm', ['run', '--silent', 'build'], {cwd: root, stdio: 'inherit'});
	}
}
