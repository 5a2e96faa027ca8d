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
	return {value: points.toSpliced(caret, 0, ...added).join(''), caret: caret + added.length, isPreset: false};
}

const withCaret = ({value}: TextField, caret: number): TextField => ({
	value,
	caret: Math.min([...value].length, Math.max(0, caret)),
	isPreset: false,
});

const without = ({value}: TextField, index: number): TextField => ({
	value: [...value].toSpliced(index, 1).join(''),
	caret: index,
	isPreset: false,
});

const edits = {
	'delete-before': (field) =>
		field.isPreset ? fieldOf('') : field.caret === 0 ? field : without(field, field.caret - 1),
	'delete-after': (field) => without(field, field.caret),
	'clear-field': () => fieldOf(''),
	'caret-left': (field) => withCaret(field, field.caret - 1),
	'caret-right': (field) => withCaret(field, field.caret + 1),
	'caret-start': (field) => withCaret(field, 0),
	'caret-end': (field) => withCaret(field, Infinity),
} as const satisfies Readonly<Record<string, (field: TextField) => TextField>>;

export type Edit = keyof typeof edits;

export const isEdit = (kind: string): kind is Edit => Object.hasOwn(edits, kind);

export const edit = (field: TextField, change: Edit): TextField => edits[change](field);

export type FieldChange = Edit | {readonly text: string};

/** Edits a field, or inserts typed or pasted text. Nothing is inserted if the text has only control sequences. */
export function changed(field: TextField, change: FieldChange): TextField {
	if (typeof change === 'string') {
		return edit(field, change);
	}

	const text = sanitizeTyped(change.text);
	return text === '' ? field : insert(field, text);
}
