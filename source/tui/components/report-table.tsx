import type {PropsWithChildren, ReactElement} from 'react';
import {Text} from 'ink';
import {Table} from 'ink-table';
import {styleOf, type Look} from '../theme.js';
import type {ReportCells} from '../view/report-cells.js';
import type {Tone} from '../widgets/styled-text.js';

type Properties = {readonly rows: readonly ReportCells[]; readonly look: Look};

const inTone =
	(tone: Tone, look: Look) =>
	({children}: PropsWithChildren): ReactElement => <Text {...styleOf(tone, look)}>{children}</Text>;

/** The report's table. It is loaded when a report is first looked at. */
export default function ReportTable({rows, look}: Properties): ReactElement {
	return (
		<Table
			data={[...rows]}
			header={inTone('heading', look)}
			cell={inTone('plain', look)}
			skeleton={inTone('frame', look)}
		/>
	);
}
