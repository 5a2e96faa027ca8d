/** Components that are loaded when they are wanted for the first time. */
import type {ComponentType} from 'preact';
import {useEffect, useState} from 'preact/hooks';

/**
@param load - Imports the component.
@returns A component that stands for it, and says so while it is not there.
*/
export function late<Props extends Record<string, unknown>>(
	load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
	let loaded: ComponentType<Props> | undefined;
	return function (props: Props) {
		const [Loaded, setLoaded] = useState(() => loaded);
		const [hasFailed, setFailed] = useState(false);
		useEffect(() => {
			if (Loaded !== undefined) {
				return;
			}

			let isGone = false;
			const fetchIt = async (): Promise<void> => {
				try {
					loaded = await load();
					if (!isGone) {
						setLoaded(() => loaded);
					}
				} catch {
					setFailed(true);
				}
			};

			void fetchIt();
			return () => {
				isGone = true;
			};
		}, [Loaded]);
		return Loaded === undefined ? (
			<p class="quiet">{hasFailed ? 'This part cannot be loaded. Reload the page.' : 'Loading…'}</p>
		) : (
			<Loaded {...props} />
		);
	};
}
