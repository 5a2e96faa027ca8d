import {createContext, use} from 'react';
import {stylesOf} from '../theme.js';
import type {Style, Styles} from './styles.js';
import type {Tone} from './tones.js';

/** Provides the styles of all tones, as in `<ThemeContext value={stylesOf('dark')}>`. Without a provider, text has no colors. */
export const ThemeContext = createContext<Styles>(stylesOf('mono'));

export const useStyle = (tone: Tone): Style => use(ThemeContext)[tone];
