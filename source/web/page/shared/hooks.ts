import {useLayoutEffect, useState} from 'preact/hooks';
import type {Observable} from '../observable.js';
import {now} from '../state/store.js';

export function useObservable<Value>(source: Observable<Value>): Value {
	const [value, setValue] = useState(() => source.get());
	useLayoutEffect(() => {
		// The value may have changed between the first drawing and this subscription.
		setValue(() => source.get());
		return source.subscribe((next) => {
			setValue(() => next);
		});
	}, [source]);
	return value;
}

export const useNow = (): number => useObservable(now);
