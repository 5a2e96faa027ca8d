import {useState} from 'preact/hooks';
import type {Gpu} from '../fields.js';
import {Cards, mostPlainCards} from '../gpu/card.js';
import {me} from '../shared/me.js';
import {useObservable} from '../shared/hooks.js';
import {useQuestion} from '../shared/question.js';
import type {Utilization} from '../state/state.js';
import {counted} from '../text.js';
import {groupsOf, groupText} from './groups.js';
import {isAsked, queryOf, questionIn, type GpuQuestion} from './question.js';
import {Rows} from './rows.js';
import {Tools} from './tools.js';

type ListProps = {
	readonly gpus: readonly Gpu[];
	readonly utilization: Utilization;
	readonly layout: GpuQuestion['layout'];
};

function List({gpus, utilization, layout}: ListProps) {
	const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
	return layout === 'rows' ? (
		<Rows gpus={gpus} />
	) : (
		<Cards gpus={gpus} utilization={utilization} open={open} setOpen={setOpen} />
	);
}

const Groups = ({question, ...list}: ListProps & {readonly question: GpuQuestion}) =>
	groupsOf(list.gpus, question.group).map((group) => (
		<section key={group.key} class="gpu-group">
			<h3 class="group-head">
				<span class="group-name">{group.name}</span>
				<span>{groupText(group)}</span>
				<span class="group-note">{group.note}</span>
			</h3>
			<List {...list} gpus={group.gpus} />
		</section>
	));

type GpuBrowserProps = {
	readonly gpus: readonly Gpu[];
	readonly utilization: Utilization;
	readonly query: URLSearchParams;
};

export default function GpuBrowser({gpus, utilization, query}: GpuBrowserProps) {
	const [question, choose] = useQuestion({view: 'overview', read: questionIn, write: queryOf}, query);
	const name = useObservable(me);
	const shown = gpus.filter((gpu) => isAsked(gpu, question, name));
	const layout = question.layout ?? (gpus.length <= mostPlainCards ? 'cards' : 'rows');
	const list = {gpus: shown, utilization, layout};
	return (
		<>
			<div class="section-head">
				<h2 id="gpus-title">GPUs</h2>
				<span class="time" role="status">
					{shown.length === gpus.length ? '' : `${shown.length} of ${counted(gpus.length, 'GPU')}`}
				</span>
				{query.size > 0 && (
					<a class="text-button" data-back href="#/">
						Show all
					</a>
				)}
			</div>
			<Tools gpus={gpus} layout={layout} question={question} choose={choose} isNew={query.toString() === 'filter='} />
			{shown.length === 0 ? (
				<p class="panel quiet">
					{question.mine && name === ''
						? 'Enter your account in the field “I am”: this page does not know who you are.'
						: 'No GPU matches.'}
				</p>
			) : question.group === 'none' ? (
				<List {...list} />
			) : (
				<Groups {...list} question={question} />
			)}
		</>
	);
}
