/** Why a job is not isolated, and what to do about it. */
import type {Fence, IsolationProblem, NamespaceSetting} from '../core/model/isolation.js';
import {sanitize} from './text/text.js';

/** No tool needs more words to say why it refuses. */
const longestText = 200;

const packages: Readonly<Record<'bwrap' | 'nsenter' | 'systemd-run', readonly [what: string, name: string]>> = {
	bwrap: ['bubblewrap', 'bubblewrap'],
	nsenter: ['nsenter', 'util-linux'],
	'systemd-run': ['systemd-run', 'systemd'],
};

/** What keeps a job from devices. */
export const fenceText = (fence: Fence): string =>
	({bwrap: 'bubblewrap', systemd: 'systemd', cgroup: 'a control group'})[fence];

const settingText = ({name, value}: NamespaceSetting): string => `${name} is ${value}`;

/** Goes on after a colon. */
export function isolationReason(problem: IsolationProblem): string {
	switch (problem.kind) {
		case 'simulated': {
			return 'simulated GPUs have no devices';
		}

		case 'no-devices': {
			return 'there is no device of a GPU in /dev';
		}

		case 'unknown-device': {
			return `which device is GPU ${problem.gpu} is not known here`;
		}

		case 'no-program': {
			return `${packages[problem.program][0]} is not installed`;
		}

		case 'needs-root': {
			return `${fenceText(problem.fence)} isolates jobs of root alone`;
		}

		case 'no-systemd': {
			return 'systemd does not run this machine';
		}

		case 'no-device-groups': {
			return 'this machine has no control groups of version 1 for devices';
		}

		case 'no-namespaces': {
			const words = problem.settings.map((setting) => settingText(setting)).join(', ');
			return `this machine gives no user namespaces to ordinary accounts (${words})`;
		}

		case 'refused': {
			const words = sanitize(problem.words.trim()).slice(0, longestText);
			return `${problem.program} failed${words === '' ? '' : `: ${words}`}`;
		}

		case 'slow': {
			return `${problem.program} took longer than ${problem.seconds} s`;
		}

		case 'no-directory': {
			return 'this directory cannot be reached inside of it';
		}

		case 'foreign-opens': {
			return `${sanitize(problem.device)} can be opened all the same`;
		}

		case 'granted-refuses': {
			return `${sanitize(problem.device)}, which was granted, cannot be opened`;
		}
	}
}

/** What to do about it, as a sentence; undefined where nothing is known to help. */
export function isolationRemedy(problem: IsolationProblem): string | undefined {
	switch (problem.kind) {
		case 'no-program': {
			const [, name] = packages[problem.program];
			return `Install it: sudo apt install ${name}, or: sudo dnf install ${name}`;
		}

		case 'no-namespaces': {
			const [setting] = problem.settings;
			return setting?.name.includes('apparmor') === true
				? 'Give bubblewrap a profile of AppArmor that allows them (canhazgpu help isolation), or allow them to all: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, and the same in /etc/sysctl.d/60-userns.conf'
				: `Allow them: sudo sysctl ${problem.settings
						.map(({name, wanted}) => `${name}=${wanted}`)
						.join(' ')}, and the same in /etc/sysctl.d/60-userns.conf`;
		}

		case 'refused': {
			return 'See what it needs: canhazgpu help isolation';
		}

		case 'needs-root': {
			return 'Leave its name out: --isolate alone takes bubblewrap, which needs no rights.';
		}

		case 'no-systemd':
		case 'no-device-groups': {
			return 'Leave its name out: --isolate alone takes what works here.';
		}

		case 'unknown-device': {
			return 'The driver tells it in /proc/driver/nvidia/gpus, which some containers hide.';
		}

		case 'granted-refuses': {
			return 'See whether it opens without isolation, and who may: ls -l /dev/nvidia* /dev/dri';
		}

		case 'no-directory': {
			return 'Start the job in another directory.';
		}

		case 'foreign-opens': {
			return 'Please report this.';
		}

		case 'simulated':
		case 'no-devices':
		case 'slow': {
			return undefined;
		}
	}
}

/** The line that `run` says before it starts a job that it could not isolate. */
export const notIsolatedLine = (problem: IsolationProblem): string => {
	const remedy = isolationRemedy(problem);
	return `NOT isolated: ${isolationReason(problem)}.${remedy === undefined ? '' : ` ${remedy}`}`;
};
