type SelectProps = {
	readonly label: string;
	readonly choices: ReadonlyArray<readonly [value: string, label: string]>;
	readonly chosen: string;
	readonly choose: (value: string) => void;
};

export const Select = ({label, choices, chosen, choose}: SelectProps) => (
	<label class="control">
		<span>{label}</span>
		<select
			value={chosen}
			onChange={({currentTarget}) => {
				choose(currentTarget.value);
			}}
		>
			{choices.map(([value, words]) => (
				<option key={value} value={value}>
					{words}
				</option>
			))}
		</select>
	</label>
);
