import type {Fence, IsolationProblem, NamespaceSetting} from '../core/model/isolation.js';
import {sanitize} from './text/text.js';

/** Maximum number of characters that are quoted from a tool's message. */
const longestText = 200;

const packages: Readonly<Record<'bwrap' | 'nsenter' | 'systemd-run', readonly [what: string, name: string]>> = {
	bwrap: ['bubblewrap', 'bubblewrap'],
	nsenter: ['nsenter', 'util-linux'],
	'systemd-run': ['systemd-run', 'systemd'],
};

export const fenceText = (fence: Fence): string =>
	({bwrap: 'bubblewrap', systemd: 'systemd', cgroup: 'a control group'})[fence];

const settingText = ({name, value}: NamespaceSetting): string => `${name} is ${value}`;

type Words<Problem> = {
	readonly reason: string | ((problem: Problem) => string);
	readonly remedy?: string | ((problem: Problem) => string);
};

type Kind = IsolationProblem['kind'];

/** Returns a sentence about the setting to change. AppArmor can allow user namespaces for bubblewrap alone. */
function namespaceRemedy({settings}: Extract<IsolationProblem, {kind: 'no-namespaces'}>): string {
	if (settings[0]?.name.includes('apparmor') === true) {
		return 'Give bubblewrap an AppArmor profile that allows them (canhazgpu help isolation), or allow them for all programs: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, and set the same in /etc/sysctl.d/60-userns.conf';
	}

	const wanted = settings.map((setting) => `${setting.name}=${setting.wanted}`).join(' ');
	return `Allow them: sudo sysctl ${wanted}, and set the same in /etc/sysctl.d/60-userns.conf`;
}

const takeWhatWorks = 'Use --isolate without a method: it chooses one that works here.';

const words: {readonly [Each in Kind]: Words<Extract<IsolationProblem, {kind: Each}>>} = {
	simulated: {reason: 'simulated GPUs have no devices'},
	'no-devices': {reason: 'there is no GPU device in /dev'},
	'unknown-device': {
		reason: ({gpu}) => `the device of GPU ${gpu} is unknown here`,
		remedy: 'The driver lists it in /proc/driver/nvidia/gpus, which some containers hide.',
	},
	'no-program': {
		reason: ({program}) => `${packages[program][0]} is not installed`,
		remedy({program}) {
			const [, name] = packages[program];
			return `Install it: sudo apt install ${name}, or: sudo dnf install ${name}`;
		},
	},
	'needs-root': {
		reason: ({fence}) => `${fenceText(fence)} can isolate only the jobs of root`,
		remedy: 'Use --isolate without a method: it chooses bubblewrap, which needs no privileges.',
	},
	'no-systemd': {reason: 'this machine does not run systemd', remedy: takeWhatWorks},
	'no-device-groups': {
		reason: 'this machine has no control groups of version 1 for devices',
		remedy: takeWhatWorks,
	},
	'no-namespaces': {
		reason: ({settings}) =>
			`this machine does not allow user namespaces for ordinary accounts (${settings.map((setting) => settingText(setting)).join(', ')})`,
		remedy: namespaceRemedy,
	},
	refused: {
		reason({program, words: printed}) {
			const said = sanitize(printed.trim()).slice(0, longestText);
			return `${program} failed${said === '' ? '' : `: ${said}`}`;
		},
		remedy: 'See what it needs: canhazgpu help isolation',
	},
	slow: {reason: ({program, seconds}) => `${program} took longer than ${seconds} s`},
	'no-directory': {
		reason: 'this directory cannot be reached by an isolated job',
		remedy: 'Start the job in another directory.',
	},
	'foreign-opens': {
		reason: ({device}) => `${sanitize(device)} can still be opened`,
		remedy: 'Please report this.',
	},
	'granted-refuses': {
		reason: ({device}) => `${sanitize(device)}, which was granted, cannot be opened`,
		remedy: 'Check whether it can be opened without isolation, and who has permission: ls -l /dev/nvidia* /dev/dri',
	},
};

function wordsOf(problem: IsolationProblem): {readonly reason: string; readonly remedy: string | undefined} {
	// This cast is safe, because each kind has the words for problems of that kind. The type of the table cannot express this.
	const {reason, remedy} = words[problem.kind] as Words<IsolationProblem>;
	return {
		reason: typeof reason === 'string' ? reason : reason(problem),
		remedy: typeof remedy === 'function' ? remedy(problem) : remedy,
	};
}

export const isolationReason = (problem: IsolationProblem): string => wordsOf(problem).reason;

export const isolationRemedy = (problem: IsolationProblem): string | undefined => wordsOf(problem).remedy;

export const notIsolatedLine = (problem: IsolationProblem): string => {
	const {reason, remedy} = wordsOf(problem);
	return `NOT isolated: ${reason}.${remedy === undefined ? '' : ` ${remedy}`}`;
};
