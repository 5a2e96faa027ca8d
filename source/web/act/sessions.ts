/** Exchanges a one-time link for a session token. Stores only digests, so that the duration of a lookup reveals nothing about a token. */
import {createHash} from 'node:crypto';

export const linkMinutes = 10;
/** A session ends after this many hours without use: one working day. */
const idleHours = 8;
/** Maximum number of sessions. If there are more, the session that was unused for longest ends. */
const mostSessions = 16;

/** `unknown` means that the link is invalid, or that a newer link has replaced it. */
export type Opened =
	{readonly kind: 'opened'; readonly token: string} | {readonly kind: 'used' | 'expired' | 'unknown'};

export type Sessions = {
	readonly newLink: () => string;
	readonly open: (linkToken: string) => Opened;
	/** Whether a session with this token is open. Also extends that session. */
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
