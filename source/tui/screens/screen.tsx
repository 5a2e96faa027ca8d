import {Box} from 'ink';
import {memo, useMemo, type ReactElement} from 'react';
import {OpenDialog} from '../dialogs/open-dialog.js';
import {layoutOf, isTooSmall, type Stack} from '../layout.js';
import {Footer} from '../panels/footer.js';
import {Header} from '../panels/header.js';
import {HostsHeader} from '../panels/hosts/hosts-header.js';
import {MessageLine} from '../panels/message.js';
import {Summary} from '../panels/summary.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {shownAppearance} from '../state/view/options.js';
import {stylesOf, themeOf} from '../theme.js';
import {DrawingContext, type Drawing} from '../themes/drawing-context.js';
import {useStyle, ThemeContext} from '../themes/theme-context.js';
import {LinearScreen} from './linear.js';
import {panelViews} from './panel-views.js';
import {SmallScreen} from './small.js';

function PanelStack({stack}: {readonly stack: Stack}): ReactElement {
	return (
		<Box flexDirection="column">
			{stack.map(({panel, width, rows}) => {
				const PanelView = panelViews[panel];
				return <PanelView key={panel} width={width} rows={rows} />;
			})}
		</Box>
	);
}

function Rule(): ReactElement {
	const {color, dimColor} = useStyle('frame');
	return (
		<Box
			height={1}
			flexShrink={0}
			borderStyle="single"
			borderBottom={false}
			borderLeft={false}
			borderRight={false}
			borderColor={color}
			borderDimColor={dimColor}
		/>
	);
}

function Overview(): ReactElement {
	const {hasLastRule, blocks} = useMonitor(layoutOf);
	const hasHosts = useMonitor(({panels}) => panels.focus === 'hosts');
	return (
		<>
			{hasHosts ? (
				<HostsHeader />
			) : (
				<>
					<Header />
					<Summary />
				</>
			)}
			<Box flexDirection="column" flexGrow={1} flexShrink={1} overflowY="hidden">
				{blocks.map((stacks, index) => (
					<Box key={index} flexShrink={0}>
						{stacks.map((stack, column) => (
							<PanelStack key={column} stack={stack} />
						))}
					</Box>
				))}
			</Box>
			{hasLastRule ? <Rule /> : undefined}
			<MessageLine />
			<Footer />
		</>
	);
}

/** The full screen. It is exactly as large as the terminal, because Ink would clear and redraw a taller screen. */
function FullScreen(): ReactElement {
	const {columns, rows} = useMonitor(({size}) => size);
	const isSmall = useMonitor(isTooSmall);
	return (
		// Clips text only on a small screen, because clipping takes a tenth of the time of each frame, and panels fit their width themselves.
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

function UncachedScreen(): ReactElement {
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

/** Draws the screen. Renders again only if a part of the state that it shows changes, not with each tick of the clock. */
export const Screen = memo(UncachedScreen);
