import {expect, test} from 'vitest';
import type {Action} from '../../../source/tui/state/actions.js';
import type {State} from '../../../source/tui/state/state.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {reserve, wait} from '../../../source/tui/commands/reserve/reserve.js';
import {reservationOf, type ReserveForm} from '../../../source/tui/commands/reserve/form.js';
import {after, pressing, stateOf} from '../_harness.js';
import {createBox, lease, run} from '../_world.js';
import {selectedGpu} from '../../../source/tui/state/gpus/rows.js';

const size = {columns: 80, rows: 24};

const stateWith = async (...leases: Array<Parameters<typeof lease>>): Promise<State> =>
	stateOf(
		await createBox(8, {leases: Object.fromEntries(leases.map((parameters, index) => [index, lease(...parameters)]))}),
		size,
	);

test('the selection stays within the pool and in view', async () => {
	const state = await stateOf(await createBox(64), size);
	expect(selectedGpu(after(state, {kind: 'line-up'}))).toBe(0);
	const last = after(state, {kind: 'last-line'}, {kind: 'line-down'});
	expect([selectedGpu(last), last.gpus.firstRow]).toEqual([63, 47]);
	const up = after(last, {kind: 'line-up'});
	expect([selectedGpu(up), up.gpus.firstRow]).toEqual([62, 47]);
	expect(after(last, {kind: 'resized', size: {columns: 80, rows: 15}}).gpus.firstRow).toBe(56);
});

test('the selection moves to the last GPU when the pool shrinks', async () => {
	const state = after(await stateOf(await createBox(64), size), {kind: 'last-line'});
	const {snapshot} = await stateOf(await createBox(2), size);
	expect(selectedGpu(after(state, {kind: 'snapshot-arrived', snapshot: snapshot!, nowMs: 0}))).toBe(1);
});

test('a dialog keeps the lease that it was opened for', async () => {
	const state = after(await stateWith(['alice']), pressing(release));
	const {snapshot} = await stateWith(['alice', {leaseId: 'another'}]);
	const {dialog} = after(state, {kind: 'snapshot-arrived', snapshot: snapshot!, nowMs: 0});
	expect(dialog).toMatchObject({targets: [{index: 0, lease: {leaseId: 'lease-alice'}}], leftOut: []});
});

test('the result of a request changes only the dialog that sent the request', async () => {
	const asked = after(await stateWith(), pressing(reserve), {kind: 'submitted'});
	const {dialog} = asked;
	const other = after(asked, {kind: 'close-dialog'}, pressing(reserve));
	const answered = after(other, {kind: 'done', dialog: dialog!, flash: {level: 'ok', text: 'done'}});
	expect(answered.dialog).toBe(other.dialog);
	expect(answered.flash?.text).toBe('done');
	const refused = after(other, {kind: 'refused', dialog: dialog!, complaint: {message: 'No', hint: 'Wait'}});
	expect(refused).toMatchObject({dialog: other.dialog, flash: {level: 'error', text: 'No. Wait'}});
});

test('a form cannot be changed after it was sent', async () => {
	const busy = after(await stateWith(), pressing(reserve), {kind: 'submitted'});
	expect(after(busy, {kind: 'typed', text: '9'}).dialog).toBe(busy.dialog);
});

test('a success message disappears after 4 seconds, and an error with the next key', async () => {
	const state = await stateWith();
	const dialog = {kind: 'help'} as const;
	const success = after(state, {kind: 'done', dialog, flash: {level: 'ok', text: 'done'}});
	expect(after(success, {kind: 'key-pressed'}, {kind: 'ticked', nowMs: 4999}).flash).toBeDefined();
	expect(after(success, {kind: 'ticked', nowMs: 5000}).flash).toBeUndefined();
	const failure = after(state, {kind: 'done', dialog, flash: {level: 'error', text: 'not done'}});
	expect(after(failure, {kind: 'ticked', nowMs: 1e9}).flash).toBeDefined();
	expect(after(failure, {kind: 'key-pressed'}).flash).toBeUndefined();
});

test('typing in a form replaces the suggested value', async () => {
	const open = after(await stateWith(), pressing(reserve));
	const typed = after(open, {kind: 'typed', text: '3'}, {kind: 'focus-next-field'});
	const filled = after(typed, {kind: 'typed', text: '1'}, {kind: 'typed', text: 'd'});
	const {dialog} = filled;
	expect(reservationOf(dialog as ReserveForm)).toEqual({
		count: 3,
		gpus: undefined,
		durationSeconds: 86_400,
		note: undefined,
		force: false,
	});
});

test.each(['-1', '0', '1.5', '2x'])(
	'the reserve form rejects the count %s and keeps every typed character',
	async (text) => {
		const open = after(await stateWith(), pressing(reserve));
		const {dialog} = after(open, {kind: 'typed', text});
		expect(() => reservationOf(dialog as ReserveForm)).toThrow(`GPUs: "${text}" is not a number of GPUs`);
		// Up counts from zero.
		expect(after(open, {kind: 'typed', text}, {kind: 'increase'}).dialog).toMatchObject({
			fields: [{field: {value: '1'}}, {}, {}, {}, {}],
		});
	},
);

test('Up and Down change the count of GPUs, and move between the other fields', async () => {
	const open = after(await stateWith(), pressing(reserve));
	const many = after(open, ...Array.from({length: 20}, (): Action => ({kind: 'increase'})));
	const {dialog} = many;
	expect(dialog?.kind === 'form' && dialog.fields[0]!.field.value).toBe('8');
	expect(after(many, {kind: 'focus-next-field'}, {kind: 'decrease'}).dialog).toMatchObject({focused: 2});
});

test('requirements typed in the reserve form appear in the request and in the equivalent command', async () => {
	const typed = (text: string) => async () => {
		const {dialog} = after(
			await stateWith(),
			pressing(reserve),
			{kind: 'increase'},
			{kind: 'focus-next-field'},
			{kind: 'focus-next-field'},
			{kind: 'focus-next-field'},
			{kind: 'typed', text},
		);
		return dialog as ReserveForm;
	};

	const form = await typed('40G h100 nvlink')();
	expect(reservationOf(form)).toMatchObject({
		count: 2,
		need: {minMemoryMiB: 38_146, models: ['h100'], nvlink: true},
	});
	expect(reserve.shellCommand!(form, {account: 'alice', uid: 1, label: 'alice'})).toBe(
		'canhazgpu reserve --gpus 2 --min-memory 40G --model h100 --nvlink --duration 8h --nonblock',
	);
	const wrong = await typed('40')();
	expect(() => reservationOf(wrong)).toThrow('Needs: "40" is unknown, or contradicts another word');
});

test('the equivalent command of a form quotes text for the shell and includes a label that differs from the account', async () => {
	const open = after(
		await stateWith(),
		pressing(reserve),
		{kind: 'focus-previous-field'},
		{kind: 'typed', text: ' '},
		{kind: 'focus-previous-field'},
		{kind: 'focus-previous-field'},
		{kind: 'typed', text: '$(rm -rf ~) "it\'s"'},
	);
	const {dialog} = open;
	expect(reserve.shellCommand!(dialog as ReserveForm, {account: 'alice', uid: 1, label: 'team a'})).toBe(
		String.raw`canhazgpu reserve --gpus 1 --duration 8h --note '$(rm -rf ~) "it'\''s"' --force --user 'team a' --nonblock`,
	);
});

test('the equivalent command of the key w waits', async () => {
	const {dialog} = after(await stateWith(), pressing(wait));
	expect(reserve.shellCommand!(dialog as ReserveForm, {account: 'alice', uid: 1, label: 'alice'})).toBe(
		'canhazgpu reserve --gpus 1 --duration 8h',
	);
});

test('root can release reservations of other users', async () => {
	const box = await createBox(1, {leases: {0: run('bob')}});
	const state = await stateOf(box, size, {requester: {account: 'root', uid: 0, label: 'root'}});
	expect(after(state, pressing(release)).dialog).toMatchObject({kind: 'confirmation'});
});

test('the key r is refused before the pool was read', async () => {
	const state = {...(await stateWith()), snapshot: undefined, connection: {kind: 'connecting'} as const};
	const refused = after(state, pressing(reserve));
	expect(refused.dialog).toBeUndefined();
	expect(refused.flash?.text).toBe('The pool has not been read yet');
});
