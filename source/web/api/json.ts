/** The one way by which values become JSON of this API and of its event stream. */
import {harmlessJsonLine} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';

const sanitizeText = (_: string, value: unknown): unknown => (typeof value === 'string' ? sanitize(value) : value);

/** One line of JSON. Each text within is harmless on a page, and the line itself on a terminal, wherever the text comes from. */
export const apiJson = (value: unknown): string => harmlessJsonLine(value, sanitizeText);
