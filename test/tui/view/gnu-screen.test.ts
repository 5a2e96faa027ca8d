import {expect, test} from 'vitest';
import {colorLevelIn, isInGnuScreen} from '../../../source/tui/terminal.js';

test.each([
	[{STY: '12.pts-0.box', TERM: 'screen'}, true],
	[{STY: '12.pts-0.box', TERM: 'xterm-256color'}, true],
	[{TERM: 'screen.xterm-256color'}, true],
	[{TERM: 'screen-256color'}, false],
	[{STY: '12.pts-0.box', TERM: 'tmux-256color', TMUX: '/tmp/tmux,1,0'}, false],
	[{TERM: 'screen.xterm-256color', TMUX: '/tmp/tmux,1,0'}, false],
	[{STY: ''}, false],
	[{}, false],
])('isInGnuScreen with %o is %s', (environment, expected) => {
	expect(isInGnuScreen(environment)).toBe(expected);
});

test('colorLevelIn never returns true color in GNU screen unless FORCE_COLOR requires it', () => {
	const inside = {STY: '12.pts-0.box', COLORTERM: 'truecolor'};
	expect(colorLevelIn({...inside, TERM: 'screen-256color'}, 3)).toBe(2);
	expect(colorLevelIn({...inside, TERM: 'screen'}, 3)).toBe(1);
	expect(colorLevelIn({...inside, TERM: 'screen'}, 0)).toBe(0);
	expect(colorLevelIn({...inside, TERM: 'screen', FORCE_COLOR: '3'}, 3)).toBe(3);
	expect(colorLevelIn({COLORTERM: 'truecolor', TERM: 'xterm-256color'}, 3)).toBe(3);
});
