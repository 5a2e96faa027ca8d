import {expect, test} from 'vitest';
import {Branch} from '../../../../source/tui/panels/shared/process-cells.js';
import {Label} from '../../../../source/tui/widgets/label.js';
import {drawn} from '../../_drawn.js';

test.each([
	[0, false, 'x'],
	[1, false, '└─ x'],
	[3, false, '    └─ x'],
	[8, false, `${' '.repeat(14)}└─ x`],
	[50, false, `${' '.repeat(14)}└─ x`],
	[2, true, '  `- x'],
])('Branch at depth %i (ASCII: %s) is "%s"', (depth, isAscii, expected) => {
	const line = (
		<Label>
			<Branch depth={depth} />x
		</Label>
	);
	expect(drawn(line, {isAscii})).toBe(expected);
});
