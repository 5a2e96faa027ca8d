/** The buttons that change the account's reservations, queue entries and jobs. */
import type {Gpu, Job, Waiter} from '../fields.js';
import {groupOf} from '../jobs/groups.js';
import type {PageState} from '../state/state.js';
import {isOwnEntry} from '../views/queue.js';
import {
	askCancelJob,
	askExtend,
	askKeep,
	askLeave,
	askRelease,
	askReserve,
	askRetryJob,
	namedPart,
	type Offer,
	type Question,
} from './dialogs.js';
import {ownLeasesOn, type OwnLease} from './ownership.js';

type ButtonProps = {
	readonly words: string;
	readonly about: string;
	readonly pressed: () => void;
};

export const Button = ({words, about, pressed}: ButtonProps) => (
	<button type="button" class="act-button" aria-label={`${words} ${about}`} onClick={pressed}>
		{`${words}…`}
	</button>
);

export type ActContext = Pick<PageState, 'gpus'> & {
	readonly account: string;
	readonly offer: Offer;
	readonly ask: (question: Question) => void;
};

/** Whether a GPU can be reserved by its number. False for a GPU that is split by MIG. True for a shared GPU, because shares can be added. */
const canReserve = (
	{state, shares, held_for_queue: heldFor, mig_instances: parts}: Gpu,
	{lacks, hasShares}: Offer,
): boolean =>
	heldFor === undefined &&
	lacks?.has('ids') !== true &&
	parts === undefined &&
	(state === 'available' || (hasShares === true && shares !== undefined));

export const slotsOf = (context: () => ActContext) => ({
	Gpu({gpu}: {readonly gpu: Gpu}) {
		const {gpus, account, offer, ask} = context();
		// The drawn lease may be outdated. If the GPU still has that lease, its newest version is used.
		const latest = (shown: OwnLease): OwnLease =>
			ownLeasesOn(gpu, context().gpus, account).find(({leaseId}) => leaseId === shown.leaseId) ?? shown;
		const {keepTime} = offer;
		return (
			<>
				{canReserve(gpu, offer) && (
					<div class="act-row">
						<Button
							words="Reserve"
							about={`GPU ${gpu.gpu_id}`}
							pressed={() => {
								ask(askReserve(gpu.gpu_id, offer));
							}}
						/>
					</div>
				)}
				{ownLeasesOn(gpu, gpus, account).map((lease) => {
					const about = namedPart([gpu.gpu_id], lease.part);
					return (
						<div key={lease.leaseId} class="act-row">
							{lease.part !== '' && <span class="act-part">{lease.part}</span>}
							{lease.goesBack && keepTime !== undefined && (
								<Button
									words="Keep"
									about={about}
									pressed={() => {
										ask(askKeep(latest(lease), keepTime));
									}}
								/>
							)}
							{!lease.isJob && (
								<Button
									words="Extend"
									about={about}
									pressed={() => {
										ask(askExtend(latest(lease)));
									}}
								/>
							)}
							<Button
								words="Release"
								about={about}
								pressed={() => {
									ask(askRelease(latest(lease), offer.lacks?.has('partial-release') === true));
								}}
							/>
						</div>
					);
				})}
			</>
		);
	},
	Waiter({waiter}: {readonly waiter: Waiter}) {
		const {account, ask} = context();
		return isOwnEntry(waiter, account) ? (
			<Button
				words="Leave"
				about={`the queue at position ${waiter.position}`}
				pressed={() => {
					ask(askLeave(waiter));
				}}
			/>
		) : undefined;
	},
	Job({job, siblings}: {readonly job: Job; readonly siblings: number}) {
		const {account, ask} = context();
		if (job.account !== account) {
			return undefined;
		}

		const hasEnded = groupOf(job) === 'ended';
		return (
			<div class="act-row">
				<Button
					words={hasEnded ? 'Retry' : 'Cancel'}
					about={`job ${job.id}`}
					pressed={() => {
						ask(hasEnded ? askRetryJob(job) : askCancelJob(job, siblings));
					}}
				/>
			</div>
		);
	},
});
