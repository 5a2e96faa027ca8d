import type {Delivery, NoticeRequest} from '../../core/model/notice-request.js';
import {messageOf} from '../../errors.js';
import {sendHttp} from './http.js';
import {runProgram, type ProgramOptions} from './programs.js';
import {writeTerminals, type TerminalOptions} from './terminals.js';

const patienceMs = 5000;

export type DeliveryOptions = TerminalOptions & ProgramOptions;

async function attempt(request: NoticeRequest, options: DeliveryOptions, signal: AbortSignal): Promise<Delivery> {
	switch (request.type) {
		case 'terminal': {
			return writeTerminals(request, options);
		}

		case 'program': {
			return runProgram(request, options, signal);
		}

		case 'http': {
			return sendHttp(request, signal);
		}

		case 'impossible': {
			return {outcome: 'failed', reason: request.reason};
		}
	}
}

/** Tries once to deliver a notice. Gives up after some seconds, or when `signal` is aborted. Never rejects. */
export async function deliver(
	request: NoticeRequest,
	options: DeliveryOptions,
	signal?: AbortSignal,
): Promise<Delivery> {
	const patience = AbortSignal.timeout(patienceMs);
	try {
		return await attempt(request, options, signal === undefined ? patience : AbortSignal.any([patience, signal]));
	} catch (error) {
		const reason = patience.aborted ? `there was no answer within ${patienceMs / 1000} s` : messageOf(error);
		return {outcome: 'failed', reason};
	}
}
