/** The session of a page that can make changes. The token is kept in this tab and sent only to this server. */
import {observable} from '../observable.js';

export type Session = {readonly kind: 'none' | 'opening' | 'open'} | {readonly kind: 'refused'; readonly words: string};

const tokenKey = 'canhazgpu-token';

/** The token of a page that cannot use the session storage. It is lost when the page is reloaded. */
let memory: string | undefined;

function storedToken(): string | undefined {
	try {
		return sessionStorage.getItem(tokenKey) ?? memory;
	} catch {
		return memory;
	}
}

function store(token: string | undefined): void {
	memory = token;
	try {
		if (token === undefined) {
			sessionStorage.removeItem(tokenKey);
		} else {
			sessionStorage.setItem(tokenKey, token);
		}
	} catch {}
}

export const session = observable<Session>({kind: storedToken() === undefined ? 'none' : 'open'});

export type Done = {
	readonly words: string;
	/** The id of the queue entry of a request that waits. */
	readonly entry_id?: string;
	readonly undo?: {readonly id: string; readonly seconds: number};
};

/** `unsure` means that the outcome is unknown. The same request can be sent again, but is carried out only once. */
export type Answer =
	| {readonly kind: 'done'; readonly done: Done}
	| {
			readonly kind: 'refused';
			readonly words: string;
			readonly hint: string | undefined;
			readonly code: string | undefined;
	  }
	| {readonly kind: 'unsure'};

type ServerWords = {readonly error?: string; readonly hint?: string; readonly code?: string};

/** Time limit in ms for an answer. */
const patienceMs = 20_000;

const post = async (path: string, body: unknown, token?: string): Promise<Response> =>
	fetch(path, {
		method: 'POST',
		headers: {
			'content-type': 'application/json',
			...(token !== undefined && {authorization: `Bearer ${token}`}),
		},
		body: JSON.stringify(body),
		credentials: 'omit',
		cache: 'no-store',
		redirect: 'error',
		signal: AbortSignal.timeout(patienceMs),
	});

const wordsOf = ({error, hint}: ServerWords): string =>
	[error ?? 'The server refused the request', hint].filter((words) => words !== undefined).join('. ');

/** Sends a request with its id. An answer that does not come from this API is treated as no answer. */
export async function act(name: string, request: Readonly<Record<string, unknown>>): Promise<Answer> {
	const token = storedToken();
	try {
		const response = await post(`/api/act/${name}`, request, token);
		const body = (await response.json()) as ServerWords & Done;
		if (response.ok) {
			return {kind: 'done', done: body};
		}

		if (response.status === 401) {
			store(undefined);
			session.set({kind: 'refused', words: wordsOf(body)});
		}

		// A server error does not show whether an earlier attempt succeeded.
		return response.status === 500
			? {kind: 'unsure'}
			: {kind: 'refused', words: body.error ?? 'The server refused the request', hint: body.hint, code: body.code};
	} catch {
		return {kind: 'unsure'};
	}
}

async function open(linkToken: string): Promise<void> {
	session.set({kind: 'opening'});
	try {
		const response = await post('/api/session', {token: linkToken});
		const body = (await response.json()) as ServerWords & {readonly token?: string};
		if (response.ok && body.token !== undefined) {
			store(body.token);
			session.set({kind: 'open'});
		} else {
			refuseLink(wordsOf(body));
		}
	} catch {
		refuseLink('The server did not answer. Open the link again');
	}
}

/** Says why a link was refused. A session that this tab already has stays open. */
function refuseLink(words: string): void {
	session.set(storedToken() === undefined ? {kind: 'refused', words} : {kind: 'open'});
}

/** Removes the token of a link from the address, and opens the session with it. */
export function readLink(): void {
	const {token} = /^#token=(?<token>[\w\-]+)$/v.exec(location.hash)?.groups ?? {};
	if (token === undefined) {
		return;
	}

	history.replaceState(history.state, '', '#/');
	void open(token);
}

export async function endSession(): Promise<void> {
	const token = storedToken();
	store(undefined);
	session.set({kind: 'none'});
	try {
		await post('/api/session/end', {}, token);
	} catch {
		// Ignored, because the server ends an unused session itself.
	}
}
