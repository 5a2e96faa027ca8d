import {useLayoutEffect, useRef} from 'preact/hooks';
import {Chips} from '../shared/chips.js';
import {gpuStates} from '../../../format/states.js';
import type {Gpu} from '../fields.js';
import {me, setMe} from '../shared/me.js';
import {useObservable} from '../shared/hooks.js';
import {Select} from '../shared/select.js';
import {shownStates} from '../text.js';
import {peopleOnAll, type GpuQuestion} from './question.js';

const layoutChoices = [
	['cards', 'Cards'],
	['rows', 'Rows'],
] as const;

const groupChoices = [
	['none', 'None'],
	['job', 'Job'],
	['user', 'User'],
] as const;

type ChooseProps = {readonly question: GpuQuestion; readonly choose: (parts: Partial<GpuQuestion>) => void};

/** The field for the filter. `isNew` is set if the fields have just appeared and nothing has been chosen yet. */
function FilterField({question: {filter}, choose, isNew}: ChooseProps & {readonly isNew: boolean}) {
	const field = useRef<HTMLInputElement>(null);
	useLayoutEffect(() => {
		// Focuses the field if the link that opened it had the focus. Not on touch screens, whose keyboard would cover the GPUs.
		if (isNew && document.activeElement === document.body && matchMedia('(hover: hover)').matches) {
			field.current?.focus({preventScroll: true});
		}
	}, []);
	return (
		<label class="control grows">
			<span>Find</span>
			<input
				ref={field}
				id="filter"
				type="search"
				placeholder="name, note, command, GPU…"
				autocomplete="off"
				spellcheck={false}
				value={filter}
				onInput={({currentTarget}) => {
					choose({filter: currentTarget.value});
				}}
			/>
		</label>
	);
}

/** Returns the users to choose from, including the user that a link names, even if that user has no GPU. */
function usersFor(user: string, gpus: readonly Gpu[]): readonly string[] {
	const people = peopleOnAll(gpus);
	return user === '' || people.includes(user) ? people : [user, ...people];
}

function MineChoice({question: {mine}, choose, gpus}: ChooseProps & {readonly gpus: readonly Gpu[]}) {
	const name = useObservable(me);
	return (
		<>
			<label class="control">
				<input
					type="checkbox"
					checked={mine}
					onChange={({currentTarget}) => {
						choose({mine: currentTarget.checked});
					}}
				/>
				<span>Mine</span>
			</label>
			{mine && (
				<label class="control">
					<span>I am</span>
					<input
						id="me"
						type="text"
						class="name-field"
						list="people"
						placeholder="your account"
						autocomplete="off"
						spellcheck={false}
						value={name}
						onInput={({currentTarget}) => {
							setMe(currentTarget.value.trim());
						}}
					/>
					<datalist id="people">
						{peopleOnAll(gpus).map((known) => (
							<option key={known} value={known} />
						))}
					</datalist>
				</label>
			)}
		</>
	);
}

type ToolsProps = ChooseProps & {
	readonly gpus: readonly Gpu[];
	readonly layout: NonNullable<GpuQuestion['layout']>;
	readonly isNew: boolean;
};

export const Tools = ({gpus, layout, question, choose, isNew}: ToolsProps) => (
	<search class="controls panel" aria-label="Choose which GPUs are shown">
		<FilterField question={question} choose={choose} isNew={isNew} />
		<Select
			label="User"
			choices={[['', 'All'], ...usersFor(question.user, gpus).map((name) => [name, name] as const)]}
			chosen={question.user}
			choose={(user) => {
				choose({user});
			}}
		/>
		<Select
			label="State"
			choices={[['', 'All'], ...shownStates.map((name) => [name, gpuStates[name].label] as const)]}
			chosen={question.state}
			choose={(chosen) => {
				choose({state: shownStates.find((name) => name === chosen) ?? ''});
			}}
		/>
		<MineChoice question={question} choose={choose} gpus={gpus} />
		<div class="control">
			<span id="layout-name">As</span>
			<Chips
				labelledBy="layout-name"
				choices={layoutChoices}
				chosen={layout}
				choose={(chosen) => {
					choose({layout: chosen});
				}}
			/>
		</div>
		<div class="control">
			<span id="group-name">Group by</span>
			<Chips
				labelledBy="group-name"
				choices={groupChoices}
				chosen={question.group}
				choose={(chosen) => {
					choose({group: chosen});
				}}
			/>
		</div>
	</search>
);
