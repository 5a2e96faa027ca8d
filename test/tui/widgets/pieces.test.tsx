import {expect, test} from 'vitest';
import {Label} from '../../../source/tui/widgets/label.js';
import {Pieces} from '../../../source/tui/widgets/pieces.js';
import {drawn} from '../_drawn.js';

test('Pieces are on one line, with two blanks between them', () => {
	const pieces = (
		<Pieces>
			<Label>one</Label>
			<Label>two</Label>
			<Label>three</Label>
		</Pieces>
	);
	expect(drawn(pieces)).toBe('one  two  three');
	expect(drawn(pieces, {columns: 10})).not.toContain('\n');
});
