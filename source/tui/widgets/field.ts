/** Text being typed. */
import {widthOf} from '../../format/text/width.js';
import type {Glyphs} from './drawing.js';
import {fitLine, span, type Line} from './styled-text.js';

/** The text, how many code points are before the caret, and whether the first character typed replaces it. */
type Field = {readonly value: string; readonly caret: number; readonly isPreset: boolean};

/** The value with its caret, exactly `width` wide: the end of a long one is shown. */
export function fieldSpans(field: Field, width: number, glyphs: Glyphs): Line {
	const points = [...field.value];
	if (field.isPreset && points.length > 0) {
		return fitLine([span(field.value, 'marked')], width, glyphs.ellipsis);
	}

	const at = points[field.caret];
	const room = width - widthOf(at ?? glyphs.caret);
	let start = 0;
	while (start < field.caret && widthOf(points.slice(start, field.caret).join('')) > room) {
		start++;
	}

	const before = points.slice(start, field.caret).join('');
	const after = points.slice(field.caret + 1).join('');
	const shown = [span(before), at === undefined ? span(glyphs.caret) : span(at, 'marked'), span(after)];
	return fitLine(shown, width, glyphs.ellipsis);
}
