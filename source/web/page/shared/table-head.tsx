/** The heading and class of each column. A column without a heading contains bars. */
export type TableColumns = ReadonlyArray<readonly [words: string, kind?: string]>;

export const TableHead = ({columns}: {readonly columns: TableColumns}) => (
	<thead>
		<tr>
			{columns.map(([words, kind]) =>
				words === '' ? (
					<td key="" />
				) : (
					<th key={words} scope="col" class={kind}>
						{words}
					</th>
				),
			)}
		</tr>
	</thead>
);
