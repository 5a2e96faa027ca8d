import type {ReactElement} from 'react';
import {tableRowsOf} from '../../layout.js';
import type {State} from '../../state/state.js';
import {visibleRows} from '../../state/gpus/rows.js';
import {useMonitor} from '../../state/use-monitor.js';
import {useTable} from '../../table/use-table.js';
import {Label} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, type PanelProperties} from '../shared/panel-frame.js';
import {TableOrder} from '../shared/table-panel.js';
import {gpuColumns} from './columns.js';
import {GpuTable} from './gpu-table.js';

const hasFoldedRows = (state: State): boolean => visibleRows(state).some(({members}) => members !== undefined);

/** Adds to the panel's title the preset, the order, and whether each row is a reservation. */
function Order(): ReactElement {
	const {preset} = useMonitor(({view}) => view);
	const hasFolds = useMonitor(hasFoldedRows);
	return (
		<>
			{preset === 'default' ? undefined : (
				<Label>
					preset <Label tone="strong">{preset}</Label>
				</Label>
			)}
			<TableOrder name="gpus" columns={gpuColumns} />
			{hasFolds ? (
				<Label>
					by reservation <Label tone="key">g</Label>
				</Label>
			) : undefined}
		</>
	);
}

export function GpusPanel({width, rows: height}: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(width);
	const {range} = useTable('gpus', useMonitor(tableRowsOf));
	const hasFolds = useMonitor(hasFoldedRows);
	return (
		<PanelFrame
			name="gpus"
			beside={<Order />}
			end={hasFolds && range !== '' ? `${range} rows` : range}
			width={width}
			rows={height}
		>
			<GpuTable width={innerWidth} height={height} />
		</PanelFrame>
	);
}
