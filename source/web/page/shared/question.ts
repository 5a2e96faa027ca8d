import {useEffect, useRef, useState} from 'preact/hooks';
import {route, type View} from '../router.js';
import {replaceRoute} from './address.js';

/** Browsers limit address changes, and sliders and text fields make many. */
export const pauseMs = 120;

type Form<Question> = {
	readonly view: View;
	readonly read: (query: URLSearchParams) => Question;
	readonly write: (question: Question) => Readonly<Record<string, string>>;
	/** Whether an address without a query keeps the previous one. */
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
		// The address written by this view is older than what is typed.
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
				// The view or its query may have changed meanwhile.
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
