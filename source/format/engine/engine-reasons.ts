/** Explains why an engine does not start a job. Slurm's reasons are listed under JOB REASON CODES in squeue(1). */
import {sanitize} from '../text/text.js';

const words: Readonly<Record<string, string>> = {
	None: 'Slurm has not looked at it yet',
	Priority: 'others come first',
	Resources: 'no GPUs free yet',
	BeginTime: 'its begin time has not been reached',
	Dependency: 'another job has to end first',
	DependencyNeverSatisfied: 'the job that it depends on can no longer end as required',
	JobHeldUser: 'held by its owner',
	JobHeldAdmin: 'held by an administrator',
	JobArrayTaskLimit: 'its array already runs as many tasks as its limit allows',
	Licenses: 'a licence is not free',
	Nodes_required_for_job_are_DOWN: 'its nodes are down, or reserved for others',
	PartitionDown: 'its partition is down',
	PartitionInactive: 'its partition does not start jobs now',
	PartitionNodeLimit: 'it asks for more nodes than its partition allows',
	PartitionTimeLimit: 'it asks for more time than its partition allows',
	ReqNodeNotAvail: 'a node that it needs is not available',
	Reservation: 'its reservation has not begun',
	Cleaning: 'it is requeued, but its previous run is still ending',
	BadConstraints: 'no node has what it asks for',
	NodeDown: 'a node that it needs is down',
	Prolog: 'its nodes are being prepared',
	InvalidAccount: 'its account is not valid',
	InvalidQOS: 'its quality of service is not valid',
	AccountNotAllowed: 'its account is not allowed to use that partition',
	QOSNotAllowed: 'its quality of service is not allowed in that partition',
};

/** Spells out a code: `QOSMaxGRESPerUser` -> `QOS max GRES per user`. */
const spaced = (code: string): string =>
	code
		.replaceAll('_', ' ')
		.replaceAll(/(?<=[a-z])(?=[A-Z])/gv, ' ')
		.replaceAll(/\b[A-Z](?=[a-z])/gv, (letter) => letter.toLowerCase());

/** Codes of the reasons that disappear when other jobs end. */
const passing: ReadonlySet<string> = new Set([
	'',
	'None',
	'Priority',
	'Resources',
	'Dependency',
	'JobArrayTaskLimit',
	'Licenses',
	'Cleaning',
]);

const isLimit = (code: string): boolean => /^(?:QOS|Assoc)/v.test(code);

/** Removes the details that Slurm adds after a comma. */
const codeOf = (reason: string): string => reason.split(',', 1)[0]!.replaceAll(/^\(|\)$/gv, '');

export function passesAsJobsEnd(reason: string): boolean {
	const code = codeOf(reason);
	return passing.has(code) || isLimit(code);
}

export function engineReasonText(reason: string): string {
	const code = codeOf(reason);
	if (Object.hasOwn(words, code)) {
		return words[code]!;
	}

	if (isLimit(code)) {
		return `a limit of its ${code.startsWith('QOS') ? 'quality of service' : 'account'} is reached (${sanitize(code)})`;
	}

	const written = sanitize(spaced(code));
	return written === '' ? 'Slurm does not say why' : written;
}
