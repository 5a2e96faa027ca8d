import {parseHold} from '../../core/rules/leases/durations.js';
import type {Form, FormField} from './dialogs.js';
import {changed, fieldOf, isEdit, type Edit, type FieldChange, type TextField} from './text-field.js';

export type FormIntent = Edit | keyof typeof moves;

export type FormAction = {readonly kind: FormIntent} | {readonly kind: 'typed'; readonly text: string};

const focusedField = (form: Form): FormField => form.fields[form.focused]!;

/** Sets the focused field. Clears the error, because it was about the earlier values. */
function withField(form: Form, field: TextField): Form {
	const fields = form.fields.with(form.focused, {...focusedField(form), field});
	const values = Object.fromEntries(fields.map((each) => [each.name, each.field.value]));
	return {...form, complaint: undefined, fields: fields.map((each) => ({...each, ...each.follow?.(values)}))};
}

const focusBy = (form: Form, by: number): Form => ({
	...form,
	focused: (form.focused + by + form.fields.length) % form.fields.length,
});

/** Handles Up and Down. In a field of the kind `count`, they change the number. In other fields, they move to the neighboring field. */
function step(form: Form, by: 1 | -1): Form {
	const {kind, most = Infinity, field} = focusedField(form);
	if (kind !== 'count') {
		return focusBy(form, -by);
	}

	const count = /^\d+$/v.test(field.value) ? Number(field.value) : 0;
	return withField(form, fieldOf(String(Math.min(most, Math.max(1, count + by)))));
}

/** Toggles a field of the kind `check`. Every typed character does this. */
const toggled = (form: Form): Form => withField(form, fieldOf(focusedField(form).field.value === '' ? 'yes' : ''));

const moves = {
	'focus-next-field': (form) => focusBy(form, 1),
	'focus-previous-field': (form) => focusBy(form, -1),
	increase: (form) => step(form, 1),
	decrease: (form) => step(form, -1),
} as const satisfies Readonly<Record<string, (form: Form) => Form>>;

export const isFormAction = (action: {readonly kind: string}): action is FormAction =>
	action.kind === 'typed' || isEdit(action.kind) || Object.hasOwn(moves, action.kind);

/** Returns how an action changes the text of a field. Undefined if the action does something else. */
export const fieldChangeOf = (action: FormAction): FieldChange | undefined =>
	action.kind === 'typed' ? action : isEdit(action.kind) ? action.kind : undefined;

export function changeForm(form: Form, action: FormAction): Form {
	const {kind, field} = focusedField(form);
	if (action.kind !== 'typed' && !isEdit(action.kind)) {
		return moves[action.kind](form);
	}

	if (kind === 'check') {
		return action.kind === 'typed' && action.text.length === 1 ? toggled(form) : form;
	}

	return withField(form, changed(field, fieldChangeOf(action)!));
}

export const valueOf = ({fields}: Form, name: string): string =>
	fields.find((field) => field.name === name)?.field.value.trim() ?? '';

/** Returns the value of the field `duration` in seconds. Throws `usage` for an invalid or too short duration. */
export const secondsOf = (form: Form): number => parseHold(valueOf(form, 'duration'), 'Duration');
