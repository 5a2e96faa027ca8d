/**
Who may act: a link that works once is exchanged for a session's token. Neither is kept as it is, so that what looks one up takes as long for a wrong
one as for a right one.
*/
import {createHash} from 'node:crypto';

/** A link that was not opened works for this long. */
export const linkMinutes = 10;
/** A session that does nothing for this long, a working day, ends. */
const idleHours = 8;
/** Of more sessions than this the one that was idle for longest ends. */
const mostSessions = 16;

/** `unknown`: no link of this server has this token, or a newer one took its place. */
export type Opened =
	{readonly kind: 'opened'; readonly token: string} | {readonly kind: 'used' | 'expired' | 'unknown'};

export type Sessions = {
	/** The token of a new link. The link before it works no longer. */
	readonly newLink: () => string;
	/** Exchanges the token of a link for that of a session, once. */
	readonly open: (linkToken: string) => Opened;
	/** Whether the token is that of a session, which goes on then. */
	readonly isOpen: (token: string) => boolean;
	readonly end: (token: string) => void;
};

type SessionOptions = {
	readonly monotonicMs: () => number;
	/** A text that cannot be guessed. */
	readonly secret: () => string;
};

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64');

export function createSessions({monotonicMs, secret}: SessionOptions): Sessions {
	let link: {readonly digest: string; readonly endsMs: number; isUsed: boolean} | undefined;
	/** By the digest of its token: when it was used last. The one that was idle for longest is the first. */
	const sessions = new Map<string, number>();

	function keep(digest: string): void {
		sessions.delete(digest);
		sessions.set(digest, monotonicMs());
		if (sessions.size > mostSessions) {
			sessions.delete(sessions.keys().next().value!);
		}
	}

	return {
		newLink() {
			const token = secret();
			link = {digest: digestOf(token), endsMs: monotonicMs() + linkMinutes * 60_000, isUsed: false};
			return token;
		},
		open(linkToken) {
			if (link?.digest !== digestOf(linkToken)) {
				return {kind: 'unknown'};
			}

			if (link.isUsed) {
				return {kind: 'used'};
			}

			if (monotonicMs() >= link.endsMs) {
				return {kind: 'expired'};
			}

			link.isUsed = true;
			const token = secret();
			keep(digestOf(token));
			return {kind: 'opened', token};
		},
		isOpen(token) {
			const digest = digestOf(token);
			const usedMs = sessions.get(digest);
			if (usedMs === undefined || monotonicMs() - usedMs >= idleHours * 3_600_000) {
				sessions.delete(digest);
				return false;
			}

			keep(digest);
			return true;
		},
		end(token) {
			sessions.delete(digestOf(token));
		},
	};
}
