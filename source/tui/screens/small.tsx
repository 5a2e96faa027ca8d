import type {ReactElement} from 'react';
import {Box} from 'ink';
import {smallest} from '../layout.js';
import {Question, quitQuestion} from '../dialogs/confirm.js';
import {Footer} from '../panels/footer.js';
import {GpuTable} from '../panels/gpus/gpus-panel.js';
import {Summary} from '../panels/summary.js';
import {isQuitQuestion} from '../state/dialogs.js';
import {useMonitor} from '../state/use-monitor.js';
import {FixedLabel, Label} from '../widgets/label.js';

/** The screen for a terminal that is too small for panels: counts, as many GPUs as fit, and the keys that still have an effect. */
export function SmallScreen(): ReactElement {
	const {columns, rows} = useMonitor(({size}) => size);
	const isWaiting = useMonitor(({waits}) => waits.length > 0);
	const isAsking = useMonitor(({dialog}) => isQuitQuestion(dialog));
	const otherRows = 2 + (isWaiting ? 1 : 0);
	return (
		<>
			{rows < 2 ? undefined : <Summary />}
			{rows > otherRows + 1 ? <GpuTable width={columns} height={rows - otherRows} /> : undefined}
			{isWaiting && rows > 2 ? <Label tone="warning"> Quitting leaves the queue</Label> : undefined}
			<Box height={1} flexShrink={0} overflow="hidden">
				{isAsking ? (
					<Box paddingLeft={1}>
						<Question>{quitQuestion}</Question>
					</Box>
				) : (
					<>
						<FixedLabel tone="warning">
							{' '}
							need {smallest.columns}x{smallest.rows}, have {columns}x{rows}
						</FixedLabel>
						<Footer />
					</>
				)}
			</Box>
		</>
	);
}
