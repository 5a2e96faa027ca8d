import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import {useMonitor} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {useStyle} from '../themes/theme-context.js';
import {Label} from '../widgets/label.js';
import {opaque} from '../widgets/opaque.js';

/** The widest dialog that asks something. */
const widest = 84;

/** Returns the cells of a dialog with borders. */
export const useDialogWidth = (most = widest): number =>
	useMonitor(({size}) => Math.min(most, size.columns - 2));

type Properties = {
	readonly title: string;
	/** At the right end of the upper border, such as `1-24 of 64`. */
	readonly end?: string;
	/** Cells of the terminal, borders included. */
	readonly width: number;
	readonly children: ReactNode;
};

/** A box over the panels. The message and the keys below stay in view. */
export function DialogBox({title, end = '', width, children}: Properties): ReactElement {
	const {columns, rows} = useMonitor(({size}) => size);
	const {frame} = useDrawing();
	const {color, dimColor} = useStyle('focus');
	if (frame === 'plain') {
		return (
			<Box flexDirection="column">
				<Label>{title}:</Label>
				{children}
			</Box>
		);
	}

	// On a high screen the dialog stands a little above the middle.
	const height = rows - (rows > 18 ? 2 : 1);
	return (
		<Box position="absolute" width={columns} height={height} alignItems="center" justifyContent="center">
			<Box paddingX={1} backgroundColor={opaque} flexShrink={1} maxHeight={rows - 1}>
				<Box
					flexDirection="column"
					width={Math.min(width, columns - 2)}
					paddingX={1}
					borderStyle="round"
					borderColor={color}
					borderDimColor={dimColor}
				>
					<Box position="absolute" top={-1} left={1}>
						<Label tone="strong"> {title} </Label>
					</Box>
					{end === '' ? undefined : (
						<Box position="absolute" top={-1} right={1}>
							<Label> {end} </Label>
						</Box>
					)}
					{children}
				</Box>
			</Box>
		</Box>
	);
}

type PartProperties = {
	/** Parts with a larger number give way first where the screen is low; 0 never does. */
	readonly givesWay: 0 | 1 | 2 | 3 | 4 | 5;
	/** Lines that stay in any case. */
	readonly least?: number;
	readonly children: ReactNode;
};

/** Large enough that parts give way nearly one after another, and small enough for the arithmetic of the layout. */
const shrinkBase = 20;

/** One part of a dialog. Where not all parts fit, the least important ones lose their lines first. */
export const DialogPart = ({givesWay, least = 0, children}: PartProperties): ReactElement => (
	<Box
		flexDirection="column"
		flexShrink={givesWay === 0 ? 0 : shrinkBase ** givesWay}
		minHeight={least}
		overflow="hidden"
	>
		{children}
	</Box>
);

/** A blank line that gives way before anything else. */
export const DialogGap = (): ReactElement => (
	<DialogPart givesWay={5}>
		<Label> </Label>
	</DialogPart>
);
