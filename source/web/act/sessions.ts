/** Exchanges a one-time link for a session token. Only digests are stored, so that the time of a lookup reveals nothing about a token. */
import {createHash} from 'node:crypto';

export const linkMinutes = 10;
/** Idle time, one working day, after which a session ends. */
const idleHours = 8;
/** Above this number, the session that was idle for longest ends. */
const mostSessions = 16;

/** `unknown`: the token is invalid, or was replaced by a newer link. */
export type Opened =
	{readonly kind: 'opened'; readonly token: string} | {readonly kind: 'used' | 'expired' | 'unknown'};

export type Sessions = {
	readonly newLink: () => string;
	/** Exchanges a link token for a session token, once. */
	readonly open: (linkToken: string) => Opened;
	/** Returns whether a session has this token. Also renews the session. */
	readonly isOpen: (token: string) => boolean;
	readonly end: (token: string) => void;
};

type SessionOptions = {
	readonly monotonicMs: () => number;
	readonly secret: () => string;
};

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64');

export function createSessions({monotonicMs, secret}: SessionOptions): Sessions {
	let link: {readonly digest: string; readonly endsMs: number; isUsed: boolean} | undefined;
	/** The last use of each session, by the digest of its token, least recent first. */
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
