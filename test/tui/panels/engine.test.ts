/** The monitor when another engine grants the GPUs: dialogs offer what the engine supports, and name its nodes. */
import {afterEach, expect, test} from 'vitest';
import type {Engine} from '../../../source/core/operations/engine.js';
import {lacksOf, noneNowError} from '../../../source/engine/slurm/refusals.js';
import {hostLines} from '../../../source/tui/state/hosts/rows.js';
import type {State} from '../../../source/tui/state/state.js';
import {adopt} from '../../../source/tui/commands/reserve/adopt.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {reserve, wait} from '../../../source/tui/commands/reserve/reserve.js';
import {signal} from '../../../source/tui/commands/processes/signal.js';
import {undo} from '../../../source/tui/commands/reservations/undo.js';
import {after, endSession, frameOf, keys, pressing, startMonitor, stateOf, type Session} from '../_harness.js';
import {createBox, gpuReading, lease, waiter} from '../_world.js';

const size = {columns: 80, rows: 24};

const settings = {engine: 'slurm', lacks: lacksOf(false)} as const;

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const unknownModels = [undefined, undefined, undefined, undefined];

const boxOnSlurm = async (models: ReadonlyArray<string | undefined> = unknownModels) =>
	createBox(4, {
		leases: {0: lease('alice', {leaseId: '7'}), 1: lease('alice', {leaseId: '7'})},
		readings: models.map((name, index) => ({
			...gpuReading(index),
			isUnread: true,
			name,
			place: {node: index < 2 ? 'box1' : 'box2', gpu: index % 2},
		})),
	});

const onSlurm = async (models = unknownModels as ReadonlyArray<string | undefined>) =>
	stateOf(await boxOnSlurm(models), size, settings);

const labels = ({dialog}: State): readonly string[] =>
	dialog?.kind === 'form' ? dialog.fields.map(({label, hint}) => `${label}: ${hint}`) : [];

test('the key r on Slurm offers neither force nor requirements if GPUs have no types', async () => {
	const state = after(await onSlurm(), pressing(reserve));
	expect(labels(state)).toEqual([
		'GPUs: 1-2 (Up/Down to change)',
		'Duration: 30m, 2h, 1d, 1h30m',
		'Note: what it is for',
	]);
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('../frames/80x24/dialogs/reserve-slurm.txt');
});

test('the key r on Slurm offers the known GPU types as requirements', async () => {
	const state = after(await onSlurm(['a100', 'a100', 'h100', 'h100']), pressing(reserve));
	expect(labels(state)).toContain('Needs: a100, h100');
});

test('the keys R and w with tagged GPUs on Slurm explain that Slurm chooses the GPUs', async () => {
	const state = await onSlurm();
	const why = 'GPUs are chosen for you here: press r and say how many';
	expect(adopt.reasonAgainst(state)).toBe(why);
	expect(wait.reasonAgainst(state)).toBeUndefined();
	expect(wait.reasonAgainst(after(state, {kind: 'toggle-tag'}))).toBe(why);
	expect(adopt.reasonAgainst({...state, settings: {...state.settings, lacks: undefined}})).not.toBe(why);
});

test('the key x on Slurm releases the whole reservation after a warning that the job ends', async () => {
	const state = after(await onSlurm(), pressing(release));
	expect(state.dialog).toMatchObject({targets: [{index: 0}, {index: 1}]});
	expect(frameOf(state)).toMatch(
		/Release GPUs 0,1.*\n(?:.*\n)*.*Slurm ends the whole job and everything that runs in it\./v,
	);
});

test('the key y on Slurm copies the job id', async () => {
	session = startMonitor(await boxOnSlurm(), {...settings, size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press('y');
	await session.shows('$ export SLURM_JOB_ID=7');
	await session.press('6');
	await session.shows('processes on the nodes cannot be read from here');
	await session.press('H');
	await session.shows(/ 3 Free .* GPU 1 of box2/v);
});

test('the key r on Slurm offers to wait if no GPUs are free now', async () => {
	const box = await boxOnSlurm();
	const acquireNow: Engine['acquireNow'] = async () => {
		throw noneNowError();
	};

	Object.assign(box.world, {engine: {name: 'slurm', lacks: settings.lacks, acquireNow}});
	session = startMonitor(box, settings);
	await session.shows(/> 0 +Mine/v);
	await session.press('r', keys.enter);
	await session.shows(noneNowError().message);
	await session.shows('w waits for them in the queue');
	expect(session.screen()).not.toContain('leave out --nonblock');
});

test("the queue panel shows Slurm's reason for waiting as a sentence", async () => {
	const state = await stateOf(await boxOnSlurm(), {columns: 120, rows: 32}, settings);
	const entry = {...waiter('bob', {requestedCount: 2}), verdict: {reason: 'Resources', startsAt: undefined}};
	const queue = [{kind: 'entry', id: '9', raw: '', entry}] as const;
	expect(frameOf({...state, snapshot: {...state.snapshot!, queue}})).toContain('#1 waits: no GPUs free yet');
});

test('the queue panel shows no expected start for a held Slurm job', async () => {
	const state = await stateOf(await boxOnSlurm(), {columns: 120, rows: 32}, settings);
	const entryWith = (id: string, reason: string) =>
		({kind: 'entry', id, raw: '', entry: {...waiter('bob'), verdict: {reason, startsAt: undefined}}}) as const;
	const queue = [entryWith('8', 'Priority'), entryWith('9', 'JobHeldUser'), entryWith('10', 'QOSMaxGRESPerUser')];
	const frame = frameOf({...state, snapshot: {...state.snapshot!, queue}});
	expect(frame).toMatch(/ 1 +bob .* on-exit /v);
	expect(frame).toMatch(/ 2 +bob .* unknown /v);
	expect(frame).toMatch(/ 3 +bob .* on-exit /v);
});

test('search and filter find the GPUs of a Slurm node by its name', async () => {
	session = startMonitor(await boxOnSlurm(), {...settings, size});
	await session.shows(/> 0 +Mine/v);
	await session.press('f', 'b', 'o', 'x', '2', keys.enter);
	await session.shows(/> 2 +Free/v);
	await session.press('/', 'b', 'o', 'x', '2', ':', '1', keys.enter);
	await session.shows(/> 3 +Free .* GPU 1 of box2/v);
	expect(session.screen()).not.toContain('of box1');
});

test('the key K on Slurm explains that processes on a node cannot be read', async () => {
	const state = await onSlurm();
	expect(signal.reasonAgainst(state)).toBe(
		'The processes on GPU 0 cannot be read from here: press x to end one of your jobs',
	);
});

test('the keys z and [ on Slurm explain why there is no undo and no load history', async () => {
	const state = await onSlurm();
	expect(undo.reasonAgainst(state)).toBe('On Slurm, a release cannot be undone: reserve again with r');
	expect(frameOf(after(state, {kind: 'look-back'}))).toContain(
		' WARN The load of the nodes cannot be read here, so there are no graphs',
	);
});

test('the table of all hosts shows the Slurm node of each GPU, and finds GPUs by node', async () => {
	const own = {...settings, hostname: 'laptop', otherHosts: []};
	const frame = frameOf(await stateOf(await boxOnSlurm(), {columns: 120, rows: 32}, own, ['focus-hosts']));
	const hosts = Array.from(frame.matchAll(/^.{3}(?<host>laptop|box\d) +(?<gpu>\d) /gmv), ({groups}) => groups);
	expect(hosts).toEqual([
		{host: 'box1', gpu: '0'},
		{host: 'box1', gpu: '1'},
		{host: 'box2', gpu: '2'},
		{host: 'box2', gpu: '3'},
	]);
	const found = await stateOf(await boxOnSlurm(), {columns: 120, rows: 32}, own, ['focus-hosts']);
	const lines = hostLines({...found, hosts: {...found.hosts, filter: {...found.hosts.filter, text: 'box2'}}});
	expect(lines.flatMap((line) => (line.kind === 'gpu' ? line.gpu.gpu_id : []))).toEqual([2, 3]);
});
