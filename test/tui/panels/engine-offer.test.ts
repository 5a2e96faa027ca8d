/** What the dialogs offer where another engine grants the GPUs: only what it has a counterpart of. */
import {expect, test} from 'vitest';
import {lacksOf} from '../../../source/engine/slurm/refusals.js';
import type {State} from '../../../source/tui/state/state.js';
import {adopt} from '../../../source/tui/verbs/adopt.js';
import {release} from '../../../source/tui/verbs/release.js';
import {reserve} from '../../../source/tui/verbs/reserve.js';
import {wait} from '../../../source/tui/verbs/wait.js';
import {after, frameOf, pressing, stateOf} from '../_harness.js';
import {createBox, gpuReading, lease} from '../_world.js';

const size = {columns: 80, rows: 24};

async function onSlurm(models: ReadonlyArray<string | undefined> = [undefined, undefined, undefined, undefined]) {
	const box = await createBox(4, {
		leases: {0: lease('alice', {leaseId: '7'}), 1: lease('alice', {leaseId: '7'})},
		readings: models.map((name, index) => ({
			...gpuReading(index),
			name,
			place: {node: index < 2 ? 'box1' : 'box2', gpu: index % 2},
		})),
	});
	return stateOf(box, size, {engine: 'slurm', lacks: lacksOf(false)});
}

const labels = ({dialog}: State): readonly string[] =>
	dialog?.kind === 'form' ? dialog.fields.map(({label, hint}) => `${label}: ${hint}`) : [];

test('r offers neither force nor needs where the GPUs have no types', async () => {
	const state = after(await onSlurm(), pressing(reserve));
	expect(labels(state)).toEqual([
		'GPUs: 1-2 (Up/Down to change)',
		'Duration: 30m, 2h, 1d, 1h30m',
		'Note: what it is for',
	]);
	await expect(`\n${frameOf(state)}\n`).toMatchFileSnapshot('../frames/80x24/dialogs/reserve-slurm.txt');
});

test('r offers the types that there are as what can be needed', async () => {
	const state = after(await onSlurm(['a100', 'a100', 'h100', 'h100']), pressing(reserve));
	expect(labels(state)).toContain('Needs: a100, h100');
});

test('GPUs cannot be named where the engine chooses them: R says so, and w with tags', async () => {
	const state = await onSlurm();
	const why = 'GPUs are chosen for you here: press r and say how many';
	expect(adopt.reasonAgainst(state)).toBe(why);
	expect(wait.reasonAgainst(state)).toBeUndefined();
	expect(wait.reasonAgainst(after(state, {kind: 'toggle-tag'}))).toBe(why);
	expect(adopt.reasonAgainst({...state, settings: {...state.settings, lacks: undefined}})).not.toBe(why);
});

test('x takes the whole reservation where it cannot be given back in parts, and says what ends', async () => {
	const state = after(await onSlurm(), pressing(release));
	expect(state.dialog).toMatchObject({targets: [{index: 0}, {index: 1}]});
	expect(frameOf(state)).toMatch(
		/Release GPUs 0,1.*\n(?:.*\n)*.*Slurm ends the whole job, with all that runs in it\./v,
	);
});
