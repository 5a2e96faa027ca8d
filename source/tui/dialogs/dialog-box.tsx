import {createContext, use, type ReactElement, type ReactNode} from 'react';
import {Box} from 'ink';
import {sanitize} from '../../format/text/text.js';
import {wrap} from '../../format/text/width.js';
import {useMouse} from '../mouse/mouse-context.js';
import {useMonitor} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {useStyle} from '../themes/theme-context.js';
import type {Tone} from '../themes/tones.js';
import {Label} from '../widgets/label.js';
import {opaque} from '../widgets/opaque.js';

/** Columns taken by the left and right border, with a blank beside each. */
const sides = 4;

const widest = 84;

/** Returns the width of a dialog, including its borders. */
export const useDialogWidth = (most = widest): number => useMonitor(({size}) => Math.min(most, size.columns - 2));

/** Screens with fewer rows show shortened dialogs. */
const leastRoomyRows = 20;

export const useIsLow = (): boolean => useMonitor(({size}) => size.rows < leastRoomyRows);

const InnerWidthContext = createContext(0);

type Properties = {
	readonly title: string;
	readonly end?: string;
	readonly width: number;
	readonly children: ReactNode;
};

/** A box in front of the panels. The message and the key hints below the panels stay visible. */
export function DialogBox({title, end = '', width, children}: Properties): ReactElement {
	const {columns, rows} = useMonitor(({size}) => size);
	const {frame} = useDrawing();
	const {color, dimColor} = useStyle('focus');
	// The dialog accepts all mouse events, so that they do not reach the panels behind it.
	const ref = useMouse({onClick: () => true, onWheel: () => undefined});
	if (frame === 'plain') {
		return (
			<Box flexDirection="column">
				<Label>{title}:</Label>
				<InnerWidthContext value={columns}>{children}</InnerWidthContext>
			</Box>
		);
	}

	// On a tall screen, the dialog is slightly above the middle.
	const height = rows - (rows > 18 ? 2 : 1);
	return (
		<Box ref={ref} position="absolute" width={columns} height={height} alignItems="center" justifyContent="center">
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
					<InnerWidthContext value={Math.min(width, columns - 2) - sides}>{children}</InnerWidthContext>
				</Box>
			</Box>
		</Box>
	);
}

type ParagraphProperties = {
	readonly tone?: Tone;
	readonly most: number;
	readonly mostWhenLow: number;
	readonly children: string;
};

/** Shows text that wraps. Text with more than `most` lines ends in an ellipsis. */
export function Paragraph({tone, most, mostWhenLow, children}: ParagraphProperties): ReactElement {
	const isLow = useIsLow();
	const width = use(InnerWidthContext);
	return (
		<Box flexDirection="column" flexShrink={0}>
			{wrap(children, width, isLow ? mostWhenLow : most).map((line, index) => (
				<Label key={index} tone={tone}>
					{line}
				</Label>
			))}
		</Box>
	);
}

export const DialogGap = (): ReactElement | undefined => (useIsLow() ? undefined : <Label> </Label>);

export const CommandContext = createContext<string | undefined>(undefined);

/** Shows the shell command with the same effect, such as `$ canhazgpu release --gpu-ids 2`. */
export function CommandText(): ReactElement | undefined {
	const command = use(CommandContext);
	return command === undefined ? undefined : (
		<Paragraph tone="key" most={4} mostWhenLow={1}>
			{`$ ${sanitize(command)}`}
		</Paragraph>
	);
}
