type ChipsProps<Value> = {
	readonly choices: ReadonlyArray<readonly [value: Value, label: string]>;
	readonly chosen: Value;
	readonly choose: (value: Value) => void;
	readonly label?: string;
	readonly labelledBy?: string;
};

/** A group of toggle buttons, of which at most one is pressed. */
export const Chips = <Value extends string | number>({
	choices,
	chosen,
	choose,
	label,
	labelledBy,
}: ChipsProps<Value>) => (
	<div class="chips" role="group" aria-label={label} aria-labelledby={labelledBy} data-arrows="button">
		{choices.map(([value, words]) => (
			<button
				key={value}
				type="button"
				class="chip"
				aria-pressed={value === chosen}
				onClick={() => {
					choose(value);
				}}
			>
				{words}
			</button>
		))}
	</div>
);
