import {expect, onTestFinished, test, vi} from 'vitest';
import {withoutSecrets} from '../../../source/host/tool/secrets.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';

const secrets = {
	CANHAZGPU_REDIS_PASSWORD: 'correct-horse',
	CANHAZGPU_REDIS_URL: 'redis://alice:battery-staple@box:6379',
	CANHAZGPU_NOTIFY_WEBHOOK: 'https://hooks.example/correct-horse',
	CANHAZGPU_NOTIFY_COMMAND: 'notify,--token,battery-staple',
};
const isSecret = /correct-horse|battery-staple/v;

test('withoutSecrets keeps a Redis address that contains no password, so that canhazgpu works within a job', () => {
	const plain = {
		CANHAZGPU_REDIS_URL: 'redis://box:6379/3',
		CANHAZGPU_REDIS_PASSWORD_FILE: '/etc/secret',
		HOME: '/root',
	};
	expect(withoutSecrets(plain)).toEqual(plain);
	expect(withoutSecrets({...plain, ...secrets})).toEqual({
		CANHAZGPU_REDIS_PASSWORD_FILE: '/etc/secret',
		HOME: '/root',
	});
});

test('runTool does not pass the Redis password to tools', async () => {
	for (const [name, value] of Object.entries(secrets)) {
		vi.stubEnv(name, value);
	}

	onTestFinished(() => {
		vi.unstubAllEnvs();
	});
	const {stdout, exitCode} = await runTool('env', [], {timeoutMs: 60_000});
	expect(exitCode).toBe(0);
	expect(stdout).toContain('PATH=');
	expect(stdout).toContain('LC_ALL=C\n');
	expect(stdout).not.toMatch(isSecret);
});

test('run does not pass the Redis password to the job', async () => {
	const box = await freshEmbeddedBox(1);
	const {stdout, stderr, exitCode} = await box.run(['run', '--', 'env'], secrets);
	expect([exitCode, stderr]).toEqual([0, '']);
	expect(stdout).toContain('CUDA_VISIBLE_DEVICES=0');
	expect(stdout).not.toMatch(isSecret);
});
