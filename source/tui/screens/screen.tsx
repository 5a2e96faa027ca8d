import {useMemo, type ReactElement} from 'react';
import {Box} from 'ink';
import {OpenDialog} from '../dialogs/open-dialog.js';
import {isTooSmall, layoutOf} from '../layout.js';
import {shownAppearance} from '../state/view/options.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {DrawingContext, type Drawing} from '../themes/drawing-context.js';
import {ThemeContext} from '../themes/theme-context.js';
import {stylesOf, themeOf} from '../theme.js';
import {LinearScreen} from './linear.js';
import {Overview} from './overview.js';
import {SmallScreen} from './small.js';

/** The full screen. It is exactly as large as the terminal, because Ink would clear and redraw a screen that is higher. */
function FullScreen(): ReactElement {
	const {columns, rows} = useMonitor(({size}) => size);
	const isSmall = useMonitor(isTooSmall);
	return (
		// Panels fit their width themselves. Clipping all text at the right edge would take a tenth of the time of each frame.
		<Box
			flexDirection="column"
			width={columns}
			height={rows}
			overflowX={isSmall ? 'hidden' : 'visible'}
			overflowY="hidden"
		>
			{isSmall ? (
				<SmallScreen />
			) : (
				<>
					<Overview />
					<OpenDialog />
				</>
			)}
		</Box>
	);
}

/** Shows the full screen, or lines of text for a screen reader. */
export function Screen(): ReactElement {
	const {isLinear} = useSettings();
	const appearance = useMonitor(shownAppearance);
	const {isAscii, graphs = 'braille'} = appearance;
	const {frame} = useMonitor(layoutOf);
	const drawing = useMemo(
		(): Drawing => ({isAscii, graphs, frame: isLinear ? 'plain' : frame}),
		[isAscii, graphs, isLinear, frame],
	);
	return (
		<ThemeContext value={stylesOf(themeOf(appearance))}>
			<DrawingContext value={drawing}>{isLinear ? <LinearScreen /> : <FullScreen />}</DrawingContext>
		</ThemeContext>
	);
}
