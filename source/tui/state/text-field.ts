/** A text field. Each edit returns a new value and does not modify the old one. */
import {sanitizeTyped} from '../../format/text/text.js';

export type TextField = {
	readonly value: string;
	/** The number of code points before the cursor. */
	readonly caret: number;
	/** Whether the text is a suggestion. The first character that is typed replaces it. */
	readonly isPreset: boolean;
};

/** The maximum length of a text, in code points. */
const longest = 200;

export const presetField = (value: string): TextField => ({value, caret: [...value].length, isPreset: true});

export const fieldOf = (value: string): TextField => ({...presetField(value), isPreset: false});

export function insert(field: TextField, text: string): TextField {
	const points = field.isPreset ? [] : [...field.value];
	const caret = field.isPreset ? 0 : field.caret;
	const added = [...text].slice(0, Math.max(0, longest - points.length));
	return {
		value: [...points.slice(0, caret), ...added, ...points.slice(caret)].join(''),
		caret: caret + added.length,
		isPreset: false,
	};
}

export type Edit =
	'delete-before' | 'delete-after' | 'clear-field' | 'caret-left' | 'caret-right' | 'caret-start' | 'caret-end';

export const isEdit = (kind: string): kind is Edit =>
	kind.startsWith('caret-') || kind.startsWith('delete-') || kind === 'clear-field';

export function edit(field: TextField, change: Edit): TextField {
	const points = [...field.value];
	const {caret} = field;
	const at = (position: number): TextField => ({
		value: field.value,
		caret: Math.min(points.length, Math.max(0, position)),
		isPreset: false,
	});
	switch (change) {
		case 'delete-before': {
			return field.isPreset || caret === 0
				? {...at(caret), value: field.isPreset ? '' : field.value, caret: 0}
				: {value: points.toSpliced(caret - 1, 1).join(''), caret: caret - 1, isPreset: false};
		}

		case 'delete-after': {
			return {value: points.toSpliced(caret, 1).join(''), caret, isPreset: false};
		}

		case 'clear-field': {
			return fieldOf('');
		}

		case 'caret-left': {
			return at(caret - 1);
		}

		case 'caret-right': {
			return at(caret + 1);
		}

		case 'caret-start': {
			return at(0);
		}

		case 'caret-end': {
			return at(points.length);
		}
	}
}

export type FieldChange = Edit | {readonly text: string};

export const changed = (field: TextField, change: FieldChange): TextField =>
	typeof change === 'string' ? edit(field, change) : insert(field, sanitizeTyped(change.text));
