import {personOf} from './text.js';

export const share = (percent: number | undefined): Record<string, string> => ({
	'--share': (Math.min(100, Math.max(0, percent ?? 0)) / 100).toFixed(3),
});

export const Bar = ({percent}: {readonly percent: number | undefined}) => (
	<span class="meter-bar" aria-hidden="true" style={share(percent)}>
		<span class="meter-fill" />
	</span>
);

type MeterProps = {readonly label: string; readonly percent: number | undefined; readonly words: string};

export const Meter = ({label, percent, words}: MeterProps) => (
	<span class="meter">
		<span>{label}</span>
		<Bar percent={percent} />
		<span>{words}</span>
	</span>
);

type PersonNameProps = {readonly user: string | undefined; readonly placeholder?: string};

export function PersonName({user, placeholder = ''}: PersonNameProps) {
	if (user === undefined) {
		return <p class="owner nobody">{placeholder}</p>;
	}

	const {name, account} = personOf(user);
	return (
		<p class="owner" title={user}>
			<span>{name}</span>
			{account !== undefined && <span class="account">{account}</span>}
		</p>
	);
}
