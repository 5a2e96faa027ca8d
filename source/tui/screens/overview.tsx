import type {ReactElement} from 'react';
import {Box} from 'ink';
import {layoutOf, type Stack} from '../layout.js';
import {Footer} from '../panels/footer.js';
import {Header} from '../panels/header.js';
import {Summary} from '../panels/summary.js';
import {HostsHeader} from '../panels/hosts/hosts-header.js';
import {MessageLine} from '../panels/message.js';
import {useMonitor} from '../state/use-monitor.js';
import {useStyle} from '../themes/theme-context.js';
import {panelViews} from './panel-views.js';

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

/** The whole screen: two lines of summary, the panels, a message and the key hints. */
export function Overview(): ReactElement {
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
