/** What a panel shows that is read for it alone: read when it is shown, and again for as long as it is. */
import {useEffect} from 'react';
import {CanhazgpuError} from '../../errors.js';

/** Old enough to be read again while it is shown. */
const freshMs = 60_000;
/** While the store is away. */
const retryMs = 5000;

type Reader<Value> = {
	readonly isShown: boolean;
	readonly read: () => Promise<Value>;
	readonly arrived: (value: Value) => void;
	/** Gets the reason in words. */
	readonly failed: (reason: string) => void;
	readonly broken: (error: unknown) => void;
};

/** @param of - What is read depends on these: when one of them changes, it is read at once. */
export function useAgain<Value>({isShown, read, arrived, failed, broken}: Reader<Value>, of: readonly unknown[]): void {
	useEffect(() => {
		if (!isShown) {
			return;
		}

		let isOver = false;
		let timer: NodeJS.Timeout | undefined;
		const readOnce = async (): Promise<void> => {
			let nextMs = freshMs;
			try {
				const value = await read();
				if (!isOver) {
					arrived(value);
				}
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					broken(error);
					return;
				}

				nextMs = retryMs;
				if (!isOver) {
					failed(error.message);
				}
			}

			if (!isOver) {
				timer = setTimeout(() => {
					void readOnce();
				}, nextMs);
			}
		};

		void readOnce();
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}, [isShown, broken, ...of]);
}
