/** How the keys change a dialog that is being filled in. */
import type {FormIntent} from './keys/intents.js';
import type {Form, FormField} from './dialogs.js';
import {edit, fieldOf, insert, isEdit, type TextField} from './text-field.js';

export type FormAction = {readonly kind: FormIntent} | {readonly kind: 'typed'; readonly text: string};

const kinds: Readonly<Record<FormAction['kind'], true>> = {
	typed: true,
	increase: true,
	decrease: true,
	'focus-next-field': true,
	'focus-previous-field': true,
	'delete-before': true,
	'delete-after': true,
	'clear-field': true,
	'caret-left': true,
	'caret-right': true,
	'caret-start': true,
	'caret-end': true,
};

/** Tells the keys of a dialog from everything else that happens. */
export const isFormAction = (action: {readonly kind: string}): action is FormAction =>
	Object.hasOwn(kinds, action.kind);

const focusedField = (form: Form): FormField => form.fields[form.focused]!;

/** Whatever is typed answers the complaint, so it goes. */
const withField = (form: Form, field: TextField): Form => ({
	...form,
	complaint: undefined,
	fields: form.fields.with(form.focused, {...focusedField(form), field}),
});

const focusBy = (form: Form, by: number): Form => ({
	...form,
	focused: (form.focused + by + form.fields.length) % form.fields.length,
});

/** Up and down count GPUs; in any other field they go to its neighbours. */
function step(form: Form, by: 1 | -1): Form {
	const {kind, most = Infinity, field} = focusedField(form);
	if (kind !== 'count') {
		return focusBy(form, -by);
	}

	const count = /^\d+$/v.test(field.value) ? Number(field.value) : 0;
	return withField(form, fieldOf(String(Math.min(most, Math.max(1, count + by)))));
}

/** A box is ticked by whatever is typed into it, and its mark taken away by the same. */
const toggled = (form: Form): Form => withField(form, fieldOf(focusedField(form).field.value === '' ? 'yes' : ''));

export function changeForm(form: Form, action: FormAction): Form {
	if (focusedField(form).kind === 'check' && (action.kind === 'typed' || isEdit(action.kind))) {
		return action.kind === 'typed' && action.text.length === 1 ? toggled(form) : form;
	}

	switch (action.kind) {
		case 'typed': {
			return action.text === '' ? form : withField(form, insert(focusedField(form).field, action.text));
		}

		case 'delete-before':
		case 'delete-after':
		case 'clear-field':
		case 'caret-left':
		case 'caret-right':
		case 'caret-start':
		case 'caret-end': {
			return withField(form, edit(focusedField(form).field, action.kind));
		}

		case 'focus-next-field': {
			return focusBy(form, 1);
		}

		case 'focus-previous-field': {
			return focusBy(form, -1);
		}

		case 'increase': {
			return step(form, 1);
		}

		case 'decrease': {
			return step(form, -1);
		}
	}
}
