/** The config files of the Go program's documentation in three formats, its environment, and their precedence. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {loadConfig, type Config, type ConfigSources} from '../../../../source/config/config.js';
import type {SettingPath} from '../../../../source/config/schema.js';
import type {Case, Group} from './group.js';

/** Returns the settings from a file, the environment and flags. */
async function configOf(
	name: string,
	text: string,
	{flags = new Map(), environment = {}}: Partial<Pick<ConfigSources, 'flags' | 'environment'>> = {},
): Promise<Config> {
	const directory = mkdtempSync(path.join(tmpdir(), 'peer-config-'));
	const file = path.join(directory, name);
	try {
		writeFileSync(file, text);
		return await loadConfig({flags, environment, file, machineFile: '/nonexistent', readsDirectory: false});
	} finally {
		rmSync(directory, {recursive: true});
	}
}

type Expected = Readonly<Partial<Record<SettingPath, unknown>>>;

async function fileCases(name: string, text: string, theirs: Expected, title = name): Promise<readonly Case[]> {
	const {get} = await configOf(name, text);
	return Object.entries(theirs).map(([key, value]) => [`${title}: ${key}`, value, get(key as SettingPath)]);
}

const complete = `redis:
  host: "localhost"
  port: 6379
  db: 0
memory:
  threshold: 1024
run:
  gpus: 1
  timeout: "2h"  # Kill commands after 2 hours
reserve:
  gpus: 1
  duration: "8h"
report:
  days: 30
web:
  port: 8080
  host: "0.0.0.0"
remote_hosts:
  - gpu-box-1
  - user@gpu-box-2
`;

const other = {redis: {host: 'redis.example.com', port: 6380, db: 3}, memory: {threshold: 512}};
const otherExpected: Expected = {
	'redis.host': 'redis.example.com',
	'redis.port': 6380,
	'redis.db': 3,
	'memory.threshold': 512,
};

export const configGroups: readonly Group[] = [
	{
		name: 'config files',
		origin: 'its source',
		cases: async () => [
			...(await fileCases('complete.yaml', complete, {
				'redis.host': 'localhost',
				'redis.port': 6379,
				'redis.db': 0,
				'memory.threshold': 1024,
				'run.gpus': 1,
				'run.timeout': 7200,
				'reserve.gpus': 1,
				'reserve.duration': 28_800,
				'report.days': 30,
				'web.port': 8080,
				'web.host': '0.0.0.0',
				remote_hosts: ['gpu-box-1', 'user@gpu-box-2'],
			})),
			...(await fileCases('config.json', JSON.stringify(other), otherExpected)),
			...(await fileCases(
				'config.toml',
				'[redis]\nhost = "redis.example.com"\nport = 6380\ndb = 3\n\n[memory]\nthreshold = 512\n',
				otherExpected,
			)),
			...(await fileCases(
				'config.yml',
				'redis:\n  host: redis.example.com\n  port: 6380\n  db: 3\nmemory:\n  threshold: 512\n',
				otherExpected,
			)),
			...(await fileCases(
				'development.yaml',
				'run:\n  gpus: 1\n  timeout: "30m"\nreserve:\n  duration: "2h"\nreport:\n  days: 7\n',
				{'run.gpus': 1, 'run.timeout': 1800, 'reserve.duration': 7200, 'report.days': 7},
			)),
			...(await fileCases(
				'production.yaml',
				'run:\n  gpus: 2\n  timeout: "12h"\nreserve:\n  duration: "1d"\nmemory:\n  threshold: 512\n',
				{'run.gpus': 2, 'run.timeout': 43_200, 'reserve.duration': 86_400, 'memory.threshold': 512},
			)),
			...(await fileCases('no-limit.yaml', 'run:\n  timeout: ""\n', {'run.timeout': undefined})),
			...(await fileCases(
				'switches.yaml',
				'status:\n  json: true\nqueue:\n  json: true\nreport:\n  json: true\nreserve:\n  force: true\n  short: true\n  nonblock: true\n  wait: 30m\n  note: mine\n  user: team\n  gpu-ids: [1, 3]\nrun:\n  gpu-ids: 0,2\n',
				{
					'queue.json': true,
					'report.json': true,
					'reserve.force': true,
					'reserve.short': true,
					'reserve.nonblock': true,
					'reserve.wait': 1800,
					'reserve.note': 'mine',
					'reserve.user': 'team',
					'reserve.gpu-ids': [1, 3],
					'run.gpu-ids': [0, 2],
				},
			)),
		],
	},
	{
		name: 'environment variables and precedence',
		origin: 'its source',
		async cases() {
			const environment = {
				CANHAZGPU_REDIS_HOST: 'redis.example.com',
				CANHAZGPU_REDIS_PORT: '6380',
				CANHAZGPU_RUN_TIMEOUT: '1h',
				CANHAZGPU_MEMORY_THRESHOLD: '2048',
			};
			const {get} = await configOf('empty.yaml', '', {environment});
			const file = 'memory:\n  threshold: 512\n';
			const flags = new Map([['memory.threshold', {text: '100', name: '--memory-threshold'}]] as const);
			const threshold = async (sources: Parameters<typeof configOf>[2]) =>
				(await configOf('file.yaml', file, sources)).get('memory.threshold');
			return [
				['CANHAZGPU_REDIS_HOST', 'redis.example.com', get('redis.host')],
				['CANHAZGPU_REDIS_PORT', 6380, get('redis.port')],
				['CANHAZGPU_RUN_TIMEOUT', 3600, get('run.timeout')],
				['CANHAZGPU_MEMORY_THRESHOLD', 2048, get('memory.threshold')],
				['a file over the default', 512, await threshold({})],
				['the environment over a file', 2048, await threshold({environment})],
				['a flag over the environment', 100, await threshold({environment, flags})],
				['a flag over a file', 100, await threshold({flags})],
			];
		},
	},
];
