import type {PropsWithChildren, ReactElement} from 'react';
import {Text} from 'ink';
import {Table} from 'ink-table';
import {styleOf, type Theme} from '../theme.js';
import type {ReportCells} from '../view/report.js';
import type {Tone} from '../widgets/styled-text.js';

type Properties = {readonly rows: readonly ReportCells[]; readonly theme: Theme};

const inTone =
	(tone: Tone, theme: Theme) =>
	({children}: PropsWithChildren): ReactElement => <Text {...styleOf(tone, theme)}>{children}</Text>;

/** The report's table. It is loaded when a report is first looked at. */
export default function ReportTable({rows, theme}: Properties): ReactElement {
	return (
		<Table
			data={[...rows]}
			header={inTone('heading', theme)}
			cell={inTone('plain', theme)}
			skeleton={inTone('frame', theme)}
		/>
	);
}
