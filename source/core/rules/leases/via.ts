/** The interface through which a reservation was requested, as stored in `via`: `mcp`, with the name of the client. */
import type {Lease} from '../../model/types.js';

const prefix = 'mcp';

export const viaMcp = (client: string): string => (client === '' ? prefix : `${prefix} ${client}`);

/** Whether a client of `canhazgpu mcp`, such as a coding agent, made the request. */
export const isOfAgent = ({via}: Pick<Lease, 'via'>): boolean =>
	via === prefix || via?.startsWith(`${prefix} `) === true;
