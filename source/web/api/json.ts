import {harmlessJsonLine} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';

const sanitizeText = (_: string, value: unknown): unknown => (typeof value === 'string' ? sanitize(value) : value);

/** Serializes a value as one line. Makes strings harmless for a page and for a terminal. */
export const apiJson = (value: unknown): string => harmlessJsonLine(value, sanitizeText);
