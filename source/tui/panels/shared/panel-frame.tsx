import {useEffect, type ReactElement, type ReactNode} from 'react';
import {Box} from 'ink';
import {innerWidthOf} from '../../layout.js';
import {useMouse} from '../../mouse/mouse-context.js';
import {panelNames, panelTitles, type PanelName, type ScrollingPanel} from '../../state/panels/state.js';
import {useDispatch, useMonitor} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {FixedLabel} from '../../widgets/label.js';
import {Panel} from '../../widgets/panel.js';

export type PanelProperties = {
	readonly width: number;
	readonly rows: number;
};

export const useInnerWidth = (width: number): number => innerWidthOf(width, useDrawing().frame);

type Properties = PanelProperties & {
	readonly name: PanelName;
	/** Words after the panel's title, such as `by user`. */
	readonly about?: string;
	/** The rest of the title, such as the order of a table. */
	readonly beside?: ReactNode;
	/** A text at the right end of the title, such as which rows are in view. */
	readonly end?: string;
	readonly children?: ReactNode;
};

/** The border of a panel that can have the focus. The title begins with the key that opens the panel: `1:GPUs`. */
export function PanelFrame({name, about, beside, end, width, rows, children}: Properties): ReactElement {
	const dispatch = useDispatch();
	const isFocused = useMonitor(({panels}) => panels.focus === name);
	const ref = useMouse({
		onClick() {
			dispatch({kind: 'pointed', at: {on: 'panel', panel: name}});
			return true;
		},
		onWheel(lines) {
			dispatch({kind: 'wheeled', panel: name, lines});
		},
	});
	return (
		<Panel
			ref={ref}
			width={width}
			rows={rows}
			end={end}
			isFocused={isFocused}
			title={
				<Box gap={2}>
					<FixedLabel tone={isFocused ? 'marked' : 'strong'}>
						{panelNames.indexOf(name) + 1}:{panelTitles[name]}
						{about === undefined ? '' : ` ${about}`}
					</FixedLabel>
					{beside}
				</Box>
			}
		>
			{children}
		</Panel>
	);
}

/** Returns which rows are in view, such as `1-24 of 64`. Empty if all rows are in view. */
export const rangeText = (from: number, to: number, total: number): string =>
	to - from < total && to > from ? `${from + 1}-${to} of ${total}` : '';

/** Returns the first line in view. Corrects `scroll` so that no line after the last one is shown. */
export const firstLine = (scroll: number, total: number, rows: number): number =>
	Math.max(0, Math.min(scroll, total - rows));

/** Returns which lines of a panel are in view. Corrects a scroll position beyond the last line. `total` is undefined until it is known. */
export function useScroll(panel: ScrollingPanel, total: number | undefined, rows: number) {
	const dispatch = useDispatch();
	const beyond = useMonitor(({panels}) => panels.scroll[panel]);
	const first = firstLine(beyond, total ?? 0, rows);
	const to = Math.min(total ?? 0, first + rows);
	const isBeyond = total !== undefined && first !== beyond;
	useEffect(() => {
		if (isBeyond) {
			dispatch({kind: 'scroll-limited', panel, beyond, first});
		}
	}, [dispatch, panel, isBeyond, beyond, first]);
	return {first, to, range: rangeText(first, to, total ?? 0)};
}
