/** The number of GPUs that the reservation form offers depends on the requirements. */
import {expect, test} from 'vitest';
import {changeForm, type FormAction} from '../../../source/tui/state/form.js';
import {reserve} from '../../../source/tui/commands/reserve/reserve.js';
import {reserveForm, type ReserveForm} from '../../../source/tui/commands/reserve/form.js';
import {a100, l40s} from '../../_helpers/mixed-box.js';
import {after, pressing, stateOf} from '../_harness.js';
import {createBox, gpuReading} from '../_world.js';

const formOf = async (models: readonly string[]) => {
	const readings = models.map((name, index) => ({...gpuReading(index), name}));
	return reserveForm(
		await stateOf(await createBox(models.length, {leases: {}, readings}), {columns: 80, rows: 24}),
		false,
	);
};

function change(form: ReserveForm, ...actions: readonly FormAction[]): ReserveForm {
	let changed = form;
	for (const action of actions) {
		changed = changeForm(changed, action) as ReserveForm;
	}

	return changed;
}

const needing = (form: ReserveForm, needs: string): ReserveForm => {
	const focused = form.fields.findIndex(({name}) => name === 'needs');
	return {...change({...form, focused}, {kind: 'typed', text: needs}), focused: 0};
};

const hintOf = ({fields}: ReserveForm): string => fields[0]!.hint;

test('the reserve form limits the count to the GPUs of one model unless the requirements say "mixed"', async () => {
	const form = await formOf([a100, a100, a100, l40s, l40s, l40s, l40s]);
	expect(hintOf(form)).toBe('1-4 (Up/Down to change)');
	expect(hintOf(needing(form, 'a100'))).toBe('1-3 (Up/Down to change)');
	expect(hintOf(needing(form, 'l40s'))).toBe('1-4 (Up/Down to change)');
	expect(hintOf(needing(form, 'mixed'))).toBe('1-7 (Up/Down to change)');
	// Invalid or impossible requirements are refused later with their own messages.
	expect(hintOf(needing(form, 'b200'))).toBe('1-4 (Up/Down to change)');
	expect(hintOf(needing(form, '40G 80G'))).toBe('1-4 (Up/Down to change)');
	const up = Array.from({length: 9}, () => ({kind: 'increase'}) as const);
	expect(change(needing(form, 'a100'), ...up).fields[0]!.field.value).toBe('3');
});

test('the reserve form offers only a count of 1 for a model that exists once', async () => {
	const form = needing(await formOf([a100, l40s, l40s]), 'a100');
	expect(hintOf(form)).toBe('1');
	expect(change(form, {kind: 'increase'}).fields[0]!.field.value).toBe('1');
});

test('the reserve form offers all GPUs of a machine with one model', async () => {
	const readings = [0, 1, 2].map((index) => gpuReading(index));
	const state = await stateOf(await createBox(3, {leases: {}, readings}), {columns: 80, rows: 24});
	const {dialog} = after(state, pressing(reserve));
	expect(dialog?.kind === 'form' && dialog.fields[0]!.hint).toBe('1-3 (Up/Down to change)');
});
