import {useEffect, useRef, useState} from 'preact/hooks';
import {route, type View} from '../router.js';
import {replaceRoute} from './address.js';

/** Delay in ms before the address is changed. Without a delay, sliders and text fields would change the address more often than browsers allow. */
export const pauseMs = 120;

type Form<Question> = {
	readonly view: View;
	readonly read: (query: URLSearchParams) => Question;
	readonly write: (question: Question) => Readonly<Record<string, string>>;
	/** Whether an address without a query keeps the question that was shown before. */
	readonly isKept?: boolean;
};

export function useQuestion<Question>(
	{view, read, write, isKept = false}: Form<Question>,
	query: URLSearchParams,
	isShown = true,
): readonly [question: Question, choose: (parts: Partial<Question>) => void] {
	const [asked, setAsked] = useState(() => read(query));
	const addressing = useRef<NodeJS.Timeout>(undefined);
	const written = useRef<string>(undefined);
	useEffect(() => {
		// Ignores an address that this view has written itself, because the fields may already be newer than that address.
		if (isShown && (query.size > 0 || !isKept) && query.toString() !== written.current) {
			clearTimeout(addressing.current);
			setAsked(() => read(query));
		}

		written.current = undefined;
	}, [query, isShown]);
	return [
		asked,
		(parts) => {
			const chosen = {...asked, ...parts};
			setAsked(() => chosen);
			clearTimeout(addressing.current);
			const before = route.get().query.toString();
			addressing.current = setTimeout(() => {
				const now = route.get();
				// Does nothing if another view or another query was opened in the meantime.
				if (now.view !== view || now.query.toString() !== before) {
					return;
				}

				const next = new URLSearchParams(write(chosen));
				written.current = next.toString();
				replaceRoute({query: next});
			}, pauseMs);
		},
	];
}
