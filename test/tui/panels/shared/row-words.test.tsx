import {expect, test} from 'vitest';
import {
	EndTime,
	IdleWords,
	OwnerName,
	ServiceWords,
	ShortIdleWords,
	StateWord,
	TimeLeft,
} from '../../../../source/tui/panels/shared/row-words.js';
import {Label} from '../../../../source/tui/widgets/label.js';
import {drawn, painted} from '../../_drawn.js';
import {stateOf} from '../../_harness.js';
import {createBox, lease, run, sceneTime} from '../../_world.js';
import {heldRow, shareRow, statusRow} from '../_rows.js';

const size = {columns: 100, rows: 30};
const state = await stateOf(await createBox(4), size);
const labelled = (label: string) => lease(label, {actualUser: 'ci'});
const severalLabels = await stateOf(await createBox(2, {leases: {0: labelled('night'), 1: labelled('day')}}), size);

const fan = {reason: 'fan \u{1B}[31mred', by: 'root', since: sceneTime - 60};
const xid = {kind: 'xid', words: 'Xid 79: fallen \u{1B}[2Joff'} as const;

test.each([
	['a drain', statusRow({drain: fan}), 'drained by root: fan red', 'warning'],
	['a drain without a reason', statusRow({drain: {since: 1}}), 'drained', 'warning'],
	['a health problem before a drain', statusRow({drain: fan, health: [xid]}), 'Xid 79: fallen off', 'error'],
] as const)('ServiceWords shows %s', (_, row, text, tone) => {
	const words = <ServiceWords row={row} />;
	expect(drawn(words)).toBe(text);
	expect(painted(words, 'dark')).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

const unreserved = (more = {}) => statusRow({state: 'unreserved', use: {kind: 'used'}, ...more});

test.each([
	['a free GPU', statusRow(), 'Free', 'free'],
	['a GPU of the user', heldRow(run('alice')), 'Mine', 'mine'],
	['a GPU of another user', heldRow(run('bob'), {use: {kind: 'used'}}), 'Reserved', 'others'],
	[
		'a GPU that has been idle for hours',
		heldRow(lease('bob', {startTime: 0}), {idleSeconds: 21_700}),
		'Idle 6h',
		'warning',
	],
	['a GPU that is held for the queue', heldRow(run('bob', {partialQueueId: 'q'})), 'Waiting', 'others'],
	['a GPU in use without a reservation', unreserved(), 'Unreserved', 'warning'],
	['a broken GPU', statusRow({state: 'error', problem: 'lost'}), 'Error', 'error'],
	['a drained GPU', statusRow({state: 'error', drain: {since: 1}, problem: 'drained'}), 'Drained', 'dim'],
] as const)('StateWord of %s', (_, row, text, tone) => {
	const word = <StateWord row={row} />;
	expect(drawn(word, {state})).toBe(text);
	expect(painted(word, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test('StateWord of a GPU that was not scanned yet is "Unknown" instead of "Error"', () => {
	const row = statusRow({state: 'error', problem: 'not scanned yet'});
	expect(drawn(<StateWord row={row} />, {state: {...state, observation: undefined}})).toBe('Unknown');
});

test.each([
	['a free GPU', statusRow(), '-', 'dim'],
	['a GPU of the user', heldRow(run('alice')), 'alice', 'mine'],
	['a GPU of another user', heldRow(run('b\u{1B}[31mob')), 'bob', 'plain'],
	['a reservation with a label', heldRow(labelled('night')), 'ci (night)', 'plain'],
	[
		'a shared GPU',
		statusRow({state: 'in-use', shares: [shareRow(lease('bob')), shareRow(lease('carol'))]}),
		'2 shared',
		'plain',
	],
	['a GPU shared with the user', statusRow({state: 'in-use', shares: [shareRow(lease('alice'))]}), '1 shared', 'mine'],
	[
		'an unreserved GPU',
		unreserved({unreservedUsers: ['dave'], processes: [{pid: 1, user: 'dave'}]}),
		'dave?',
		'warning',
	],
	['an unreserved GPU of an unknown user', unreserved(), 'unknown?', 'warning'],
] as const)('OwnerName of %s', (_, row, text, tone) => {
	const name = <OwnerName row={row} />;
	expect(drawn(name, {state})).toBe(text);
	expect(painted(name, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test('OwnerName shows the label first if the account holds GPUs under different labels', () => {
	expect(drawn(<OwnerName row={heldRow(labelled('night'))} />, {state: severalLabels})).toBe('night @ci');
});

test.each([
	[59, '!59s', 'warning'],
	[899, '!14m', 'warning'],
	[900, '15m', 'plain'],
	[4 * 3600, '4h00m', 'plain'],
] as const)('TimeLeft of %i seconds is "%s" in the tone "%s"', (seconds, text, tone) => {
	const left = <TimeLeft seconds={seconds} />;
	expect(drawn(left)).toBe(text);
	expect(painted(left, 'dark')).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

const endless = {expiryTime: undefined};

test.each([
	['a free GPU', statusRow(), '-', 'dim'],
	['a reservation', heldRow(lease('bob')), '4h00m', 'plain'],
	['a reservation that ends soon', heldRow(lease('bob', {expiryTime: sceneTime + 725})), '!12m', 'warning'],
	['a reservation without an end', heldRow({...lease('bob'), ...endless}), 'never', 'plain'],
	['a job', heldRow(run('bob')), 'on-exit', 'plain'],
	['a suspended job', heldRow(run('bob', {isSuspended: true})), 'paused', 'warning'],
	['a GPU held for the queue', heldRow(run('bob', {partialQueueId: 'q'})), 'queued', 'plain'],
] as const)('EndTime of %s', (_, row, text, tone) => {
	const end = <EndTime row={row} />;
	expect(drawn(end)).toBe(text);
	expect(painted(end, 'dark')).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

const warning = {since: sceneTime - 3600, deadline: sceneTime + 720};
const parked = {since: sceneTime - 4 * 3600};
const keepUntil = sceneTime + 2 * 86_400;
const limit = {value: 4, key: 'limit.gpus', text: '4'};

test.each([
	['idle since 13:32, goes back at 14:44 unless used', {warning}, 'warning'],
	['idle since 13:32, goes back when somebody is waiting', {warning: {...warning, deadline: sceneTime - 1}}, 'warning'],
	['parked since 10:32 (no load)', {parked}, 'warning'],
	['beyond its limit of 4 GPUs', {beyondLimit: {limit, deadline: undefined}}, 'warning'],
	['beyond its limit of 4 GPUs, goes back at 14:33', {beyondLimit: {limit, deadline: sceneTime + 60}}, 'warning'],
	['kept until 14:32+2d even if idle', {keepUntil}, 'plain'],
	['parked since 10:32 (no load), kept until 14:32+2d even if idle', {parked, keepUntil}, 'warning'],
	['idle since 13:32, goes back at 14:44 unless used', {warning, keepUntil}, 'warning'],
] as const)('IdleWords shows "%s"', (text, row, tone) => {
	const words = <IdleWords row={row} />;
	expect(drawn(words, {state})).toBe(text);
	expect(painted(words, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test.each([
	['', 19, {}, undefined],
	['goes back at 14:44', 19, {warning}, undefined],
	['back at 14:44', 18, {warning}, undefined],
	['goes back if wanted', 19, {warning: {deadline: sceneTime}}, undefined],
	['goes back at 14:44, beyond limit: train.py', 40, {warning, isBeyondLimit: true}, 'train.py'],
	['parked 4h: train.py', 19, {parked}, 'train.py'],
	['kept until 14:32+2d', 19, {keepUntil}, undefined],
	['kept to 14:32+2d', 18, {keepUntil}, undefined],
	['parked 4h', 40, {keepUntil, parked}, undefined],
])('ShortIdleWords shows "%s" in %i columns', (text, width, row, words) => {
	expect(drawn(<ShortIdleWords row={row} width={width} words={words} />, {state})).toBe(text);
});
