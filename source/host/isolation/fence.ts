/** What every fence is made from and gives. */
import path from 'node:path';
import type {IsolationProblem} from '../../core/model/isolation.js';
import {lookUpCommand} from '../tool/command.js';
import type {ProofNodes} from './witness.js';

export type FenceOptions = {
	/** Where the devices are: `/dev`, or what stands in for it. */
	readonly devices: string;
	/** The nodes that are not to open. */
	readonly foreign: ReadonlyArray<{readonly file: string}>;
	/** What must be seen from inside before anything else is started there. */
	readonly proof: ProofNodes;
	/** Where programs are looked for. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Whether this process is root of the machine. */
	readonly isRoot: boolean;
};

/** A fence that was proved. */
export type Fenced = {
	readonly kind: 'fenced';
	/** Words that start a command inside. */
	readonly entrance: readonly string[];
	/** To be called when nothing is to be started inside any more. Never rejects. */
	readonly close: () => Promise<void>;
};

export type MakeFence = (options: FenceOptions) => Promise<Fenced | IsolationProblem>;

type Program = Extract<IsolationProblem, {kind: 'no-program'}>['program'];

/** Where a program is, or that it is not there. */
export const findProgram = (program: Program, environment: FenceOptions['environment']): string | IsolationProblem => {
	const found = lookUpCommand(program, environment);
	return found.kind === 'found' ? path.resolve(found.file) : {kind: 'no-program', program};
};
