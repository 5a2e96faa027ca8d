/** Whole screens of the monitor at six sizes: every situation of the pool, every dialog and every theme. */
import chalk from 'chalk';
import {expect, test} from 'vitest';
import stringWidth from 'string-width';
import {themeNames} from '../../source/format/monitor-settings.js';
import type {MonitorCommand} from '../../source/tui/commands/command.js';
import {extendOverHosts} from '../../source/tui/commands/hosts/extend.js';
import {releaseOverHosts} from '../../source/tui/commands/hosts/release.js';
import {reserveOverHosts, reserveThisOverHosts} from '../../source/tui/commands/hosts/reserve.js';
import {cancelJob, retryJob} from '../../source/tui/commands/jobs.js';
import {leave} from '../../source/tui/commands/leave.js';
import {signal} from '../../source/tui/commands/processes/signal.js';
import {extend} from '../../source/tui/commands/reservations/extend.js';
import {release} from '../../source/tui/commands/reservations/release.js';
import {adopt} from '../../source/tui/commands/reserve/adopt.js';
import {reserve, reserveThese, wait} from '../../source/tui/commands/reserve/reserve.js';
import {Screen} from '../../source/tui/screens/screen.js';
import type {Action} from '../../source/tui/state/actions.js';
import {commandPrompt, outputOf} from '../../source/tui/state/command-line/state.js';
import {ask} from '../../source/tui/state/dialogs.js';
import type {Settings, State} from '../../source/tui/state/state.js';
import {withTheme} from '../../source/tui/theme.js';
import {splitReading} from '../_helpers/mig-box.js';
import {after, drawnBy, factsIn, frameOf, pressing, stateOf, type Step} from './_harness.js';
import {eventsArrived, pastOf, reported} from './_scene.js';
import {alice, busy, createBox, createScene, gpuReading, lease, run, sceneTime, waiter, type Box} from './_world.js';
import {answered, failed, held, remoteRow} from './hosts/_hosts.js';
import {rowsOf} from './jobs/_jobs.js';
import {createLarge} from './view/_large.js';

const sizes = ['60x15', '80x24', '100x30', '120x32', '200x50', '240x60'] as const;

const sizeOf = (name: string) => {
	const [columns = 0, rows = 0] = name.split('x').map(Number);
	return {columns, rows};
};

/** Returns the state at 120x32, after five minutes of scans. */
const seen = async (box: Box, steps: readonly Step[] = [], settings: Partial<Settings> = {}): Promise<State> =>
	stateOf(box, sizeOf('120x32'), settings, [eventsArrived, ...steps], pastOf(box));

/** Draws the state at every size, and compares each screen with its file. */
async function expectScreens(state: State, file: string): Promise<void> {
	for (const name of sizes) {
		const size = sizeOf(name);
		const text = frameOf(after(state, {kind: 'resized', size}));
		const lines = text.split('\n');
		expect(lines).toHaveLength(size.rows);
		expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(size.columns);
		await expect(`\n${text}\n`).toMatchFileSnapshot(`frames/${name}/${file}.txt`);
	}
}

/** 64 GPUs that are all in use, and 40 waiting requests. */
async function createCrowded(): Promise<Box> {
	const box = await createLarge();
	const users = ['erin', 'frank', 'grace', 'heidi'] as const;
	const rest = box.readings.flatMap(({index, processes}) => (processes?.length === 0 ? [index] : []));
	await box.write(
		...rest.map((index) => ({kind: 'lease', index, lease: lease('grace', {leaseId: 'rest'})}) as const),
		...Array.from(
			{length: 38},
			(_, index) =>
				({
					kind: 'join',
					entry: waiter(users[index % users.length]!, {
						id: `entry-${index}`,
						requestedCount: (index % 8) + 1,
						enqueueTime: sceneTime - 2000 + index * 40,
					}),
				}) as const,
		),
	);
	return box;
}

/** A shared GPU, a GPU split into MIG instances of which one is held, and two whole ones. */
async function createDivided(): Promise<Box> {
	const box = await createBox(4, {
		readings: [
			busy(0, 'bob', 'python eval.py', {gibibytes: 16, percent: 40}),
			splitReading(1, ['1g.10gb', '1g.10gb', '3g.40gb']),
			gpuReading(2),
			gpuReading(3),
		],
	});
	await box.write(
		{
			kind: 'shares',
			index: 0,
			capacityMiB: 81_559,
			shares: [
				lease('alice', {memoryMiB: 8192, note: 'eval', leaseId: 'alice-0'}),
				run('bob', {memoryMiB: 16_384, leaseId: 'bob-1'}),
			],
		},
		{
			kind: 'shares',
			index: 1,
			shares: [lease('carol', {mig: {uuid: 'MIG-1-0', number: 0, profile: '1g.10gb'}})],
		},
	);
	return box;
}

const hostNames = ['gpu-box-1', 'gpu-box-8', 'gpu-box-9'];

const hostsArrived: Action = {
	kind: 'hosts-arrived',
	known: [
		answered('gpu-box-1', [remoteRow(0), held(1, 'alice'), held(2, 'bob', {type: 'RUN'}), remoteRow(3)], 900, 2),
		failed('gpu-box-8', 'ssh: connect to host gpu-box-8 port 22: No route to host', {
			rows: [remoteRow(0), held(1, 'carol')],
			answeredMs: -719_000,
		}),
		failed('gpu-box-9', 'canhazgpu is not installed there'),
	],
	nowMs: 1000,
};

const seenHosts = async (): Promise<State> =>
	seen(await createScene(), ['focus-hosts', hostsArrived, 'last-line'], {otherHosts: hostNames});

const scanFailed: Action = {
	kind: 'scan-arrived',
	observation: {
		provider: 'nvidia',
		takenAtMs: 5000,
		simulated: false,
		gpus: [],
		failure: {message: 'nvidia-smi did not answer within 10 s', hint: 'Look at dmesg for Xid errors.'},
		warnings: [],
	},
	nowMs: 5000,
};

const lost: readonly Action[] = [
	{kind: 'store-lost', reason: 'Redis unreachable', nowMs: 4000, sinceMs: 4000},
	{kind: 'ticked', nowMs: 18_000},
];

const scenes: Readonly<Record<string, () => Promise<State>>> = {
	free: async () => seen(await createBox(8)),
	busy: async () => seen(await createScene()),
	crowded: async () => seen(await createCrowded()),
	divided: async () => seen(await createDivided()),
	stale: async () => seen(await createScene(), lost),
	'scan-failed': async () => seen(await createScene(), [scanFailed, {kind: 'ticked', nowMs: 18_000}]),
	hosts: async () => seenHosts(),
	jobs: async () => seen(await createScene(), ['focus-jobs', {kind: 'jobs-arrived', jobs: {rows: rowsOf()}}]),
	processes: async () => seen(await createScene(), ['focus-processes']),
	report: async () => seen(await createScene(), [reported, 'focus-report']),
	ascii: async () => seen(await createScene(), [], {isAscii: true}),
};

test.each(Object.keys(scenes))('top draws the scene "%s" at every size', async (name) => {
	await expectScreens(await scenes[name]!(), `scenes/${name}`);
});

/** Returns the state in which this command has opened its dialog, for commands that scan before they do. */
async function opened(box: Box, {begin}: MonitorCommand): Promise<State> {
	let state = await seen(box);
	const scan = {observation: await box.world.gpus.observe(), facts: factsIn(box, [81_234, 81_377])};
	const action = await begin!({
		world: box.world,
		store: {
			getState: () => state,
			dispatch(action: Action) {
				state = after(state, action);
			},
		},
		ports: {},
		scanOwn: async () => scan,
		scanSelected: async () => ({gpus: [0], scan}),
	} as never);
	return action === undefined ? state : after(state, action);
}

/** Presses the key of a command on the last line on which the command is enabled. */
function pressWhereEnabled(command: MonitorCommand, state: State): State {
	let next = state;
	for (let line = 0; command.reasonAgainst(next) !== undefined && line < 50; line++) {
		next = after(next, 'line-up');
	}

	return after(next, pressing(command));
}

const jobsArrived: Action = {kind: 'jobs-arrived', jobs: {rows: rowsOf()}};

const atOwnReservation = async (): Promise<Box> =>
	createBox(8, {leases: {0: lease('alice', {note: 'sweep'}), 1: lease('alice', {note: 'sweep'}), 2: lease('bob')}});

const ownEntry = waiter('alice', {requestedCount: 2});

const dialogs: Readonly<Record<string, () => Promise<State>>> = {
	reserve: async () => seen(await createScene(), [pressing(reserve)]),
	'reserve-these': async () => seen(await createScene(), ['line-down', 'toggle-tag', pressing(reserveThese)]),
	wait: async () => seen(await createScene(), [pressing(wait)]),
	release: async () => seen(await createScene(), [pressing(release)]),
	extend: async () => seen(await atOwnReservation(), [pressing(extend)]),
	leave: async () => seen(await createBox(2, {waiting: [ownEntry]}), ['focus-queue', pressing(leave)]),
	options: async () => seen(await createScene(), ['open-options']),
	columns: async () => seen(await createScene(), ['open-columns']),
	help: async () => seen(await createScene(), ['open-help']),
	process: async () => seen(await createScene(), ['focus-processes', 'open-process']),
	'command-line': async () =>
		seen(await createScene(), [
			{kind: 'opened', dialog: commandPrompt([])},
			{kind: 'typed', text: 'reserve --gpus 2'},
		]),
	output: async () =>
		seen(await createScene(), [{kind: 'opened', dialog: outputOf('queue', ['1  erin  GPU 3', '2  frank  GPUs 4,5'])}]),
	'cancel-job': async () =>
		pressWhereEnabled(cancelJob, await seen(await createScene(), ['focus-jobs', jobsArrived, 'last-line'])),
	'retry-job': async () =>
		pressWhereEnabled(retryJob, await seen(await createScene(), ['focus-jobs', jobsArrived, 'last-line'])),
	'hosts-reserve': async () => pressWhereEnabled(reserveOverHosts, await seenHosts()),
	'hosts-reserve-these': async () => pressWhereEnabled(reserveThisOverHosts, await seenHosts()),
	'hosts-release': async () => pressWhereEnabled(releaseOverHosts, await seenHosts()),
	'hosts-extend': async () => pressWhereEnabled(extendOverHosts, await seenHosts()),
	adopt: async () => opened(await createOwnUnreserved(), adopt),
	signal: async () => opened(await createScene(), signal),
	quit: async () =>
		seen(await createScene(), [
			{kind: 'wait-went-on', id: 1, words: 'position 1 of 1'},
			{kind: 'opened', dialog: ask('quit', {})},
		]),
};

/** GPU 0 is in use by alice, who has not reserved it. */
async function createOwnUnreserved(): Promise<Box> {
	const reading = busy(0, alice.account, 'python train.py', {gibibytes: 20, percent: 60});
	return createBox(4, {
		readings: [
			{...reading, processes: reading.processes?.map((process) => ({...process, startTicks: 5}))},
			gpuReading(1),
			gpuReading(2),
			gpuReading(3),
		],
	});
}

test.each(Object.keys(dialogs))('top draws the dialog "%s" at every size', async (name) => {
	const state = await dialogs[name]!();
	expect(state.dialog).toBeDefined();
	await expectScreens(state, `scenes/dialog-${name}`);
});

test.each(Object.keys(scenes))('top without colors draws the scene "%s" without color codes', async (name) => {
	const {level} = chalk;
	chalk.level = 3;
	try {
		const drawn = drawnBy(await scenes[name]!(), <Screen />);
		expect(drawn).not.toMatch(/\[(?:3[0-7]|38;|4[0-7]|48;|9[0-7])[\d;]*m/v);
	} finally {
		chalk.level = level;
	}
});

test.each(themeNames)('top draws the busy scene in the theme %s', async (theme) => {
	const {level} = chalk;
	chalk.level = 3;
	try {
		const state = await seen(
			await createScene(),
			[],
			withTheme({hasColor: true, hasGradients: true, isAscii: false} as never, theme),
		);
		await expect(`${drawnBy(state, <Screen />)}\n`).toMatchFileSnapshot(`frames/120x32/themes/${theme}.ansi`);
	} finally {
		chalk.level = level;
	}
});
