import type {ReactElement} from 'react';
import {widthOf} from '../../format/text/width.js';
import {useDrawing} from '../themes/drawing-context.js';
import type {TextField} from '../state/text-field.js';
import {Label} from './label.js';

type Properties = {
	readonly field: TextField;
	readonly width: number;
	readonly isFocused?: boolean;
};

/** Shows text that is being typed. Long text scrolls, so that the cursor stays visible. */
export function TextInput({field, width, isFocused = true}: Properties): ReactElement {
	const {isAscii} = useDrawing();
	const characters = [...field.value];
	if (!isFocused || (field.isPreset && characters.length > 0)) {
		return <Label tone={isFocused ? 'marked' : 'plain'}>{field.value}</Label>;
	}

	const atCaret = characters[field.caret];
	const room = width - widthOf(atCaret ?? ' ');
	let start = 0;
	while (start < field.caret && widthOf(characters.slice(start, field.caret).join('')) > room) {
		start++;
	}

	return (
		<Label>
			{characters.slice(start, field.caret).join('')}
			{atCaret === undefined ? isAscii ? '_' : '█' : <Label tone="marked">{atCaret}</Label>}
			{characters.slice(field.caret + 1).join('')}
		</Label>
	);
}
