/** Every flag of the Go program with its letter and default, and the values of its completion. */
import {globalFlags} from '../../../../source/command-line/flags.js';
import {commandNames, findCommand} from '../../../../source/command-line/find-command.js';
import type {Flag, Flags} from '../../../../source/command-line/command.js';
import {countOf} from '../../../../source/commands/shared/request-flags.js';
import {loadConfig} from '../../../../source/config/config.js';
import type {Case, Group} from './group.js';

type Form = 'switch' | 'value';

const form = (flag: Flag | undefined): string =>
	flag === undefined
		? 'none'
		: [flag.shortFlag === undefined ? '' : `-${flag.shortFlag} `, flag.value === undefined ? 'switch' : 'value'].join(
				'',
			);

/** The flags of `cmd.Flags()`: name -> letter, and whether the flag takes a value. */
const declared: Readonly<Record<string, Readonly<Record<string, Form | `-${string} ${Form}`>>>> = {
	canhazgpu: {
		config: 'value',
		'redis-host': 'value',
		'redis-port': 'value',
		'redis-db': 'value',
		'memory-threshold': 'value',
		version: '-v switch',
		help: '-h switch',
	},
	admin: {gpus: '-g value', provider: '-p value', force: 'switch'},
	status: {json: '-j switch', all: 'switch', remote: '-r value', summary: '-s switch', 'no-color': 'switch'},
	run: {
		gpus: '-g value',
		'gpu-ids': '-G value',
		timeout: '-t value',
		note: '-n value',
		user: '-u value',
		nonblock: 'switch',
		wait: '-w value',
	},
	reserve: {
		gpus: '-g value',
		'gpu-ids': '-G value',
		duration: '-d value',
		force: '-f switch',
		note: '-n value',
		user: '-u value',
		nonblock: 'switch',
		wait: '-w value',
		short: '-s switch',
	},
	release: {'gpu-ids': '-G value'},
	report: {days: '-d value', json: '-j switch'},
	web: {port: '-p value', host: 'value', demo: 'switch'},
};

async function flagCases(): Promise<readonly Case[]> {
	const cases: Case[] = [];
	for (const [command, theirs] of Object.entries(declared)) {
		const own: Flags = command === 'canhazgpu' ? {} : (await findCommand(command)).flags;
		const flags: Flags = {...globalFlags, ...own};
		cases.push(
			...Object.entries(theirs).map(([name, said]): Case => [`${command} --${name}`, said, form(flags[name])]),
		);
	}

	return cases;
}

async function defaultCases(): Promise<readonly Case[]> {
	const {get} = await loadConfig({
		flags: new Map(),
		environment: {},
		machineFile: '/nonexistent',
		readsDirectory: false,
	});
	const input = {config: {get, isGiven: () => false, warnings: []}} as unknown as Parameters<typeof countOf>[0];
	return [
		['redis-host', 'localhost', get('redis.host')],
		['redis-port', 6379, get('redis.port')],
		['redis-db', 0, get('redis.db')],
		['memory-threshold', 1024, get('memory.threshold')],
		['run --gpus', 1, countOf(input, 'run.gpus', undefined)],
		['run --timeout', undefined, get('run.timeout')],
		['run --note', undefined, get('run.note')],
		['run --user', undefined, get('run.user')],
		['run --wait', undefined, get('run.wait')],
		['run --nonblock', false, get('run.nonblock') ?? false],
		['reserve --gpus', 1, countOf(input, 'reserve.gpus', undefined)],
		['reserve --duration', 1800, get('reserve.duration')],
		['reserve --force', false, get('reserve.force') ?? false],
		['reserve --short', false, get('reserve.short') ?? false],
		['reserve --wait', undefined, get('reserve.wait')],
		['report --days', 30, get('report.days')],
		['web --port', 8080, get('web.port')],
		['web --host', '0.0.0.0', get('web.host')],
		['the remote hosts', 0, get('remote_hosts')?.length],
	];
}

/** Candidates of the Go program's bash completion. */
async function completionCases(): Promise<readonly Case[]> {
	const offers = async (command: string, name: string): Promise<readonly string[]> => {
		const offered = (await findCommand(command)).flags[name]?.completes;
		return Array.isArray(offered) ? (offered as readonly string[]) : [];
	};

	const durations = await offers('reserve', 'duration');
	const days = await offers('report', 'days');
	return [
		...['admin', 'queue', 'release', 'report', 'reserve', 'run', 'status', 'web'].map((command): Case => [
			`the command ${command}`,
			true,
			commandNames.includes(command),
		]),
		...['30m', '1h', '2h', '4h', '8h', '1d', '2d'].map((text): Case => [
			`--duration ${text}`,
			true,
			durations.includes(text),
		]),
		...['1', '3', '7', '14', '30', '60', '90'].map((text): Case => [`--days ${text}`, true, days.includes(text)]),
		['the command completion', false, commandNames.includes('completion')],
	];
}

export const flagGroups: readonly Group[] = [
	{name: 'flags, their letters, and whether they take a value', origin: 'its source', cases: flagCases},
	{
		name: 'defaults of flags',
		origin: 'its source',
		cases: defaultCases,
		differences: {
			'reserve --duration': 'the documentation of both says 8 hours; there it is 30 minutes since January 2026',
			'web --host': 'the page has no login',
		},
	},
	{
		name: 'commands and completion',
		origin: 'its source',
		cases: completionCases,
		understoodHere: ['the command completion'],
	},
];
