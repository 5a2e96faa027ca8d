/** The page: plain files, embedded as text when the program is built, and served as they are. */
import uplotStyle from 'uplot/dist/uPlot.min.css';
import uplotScript from 'uplot/dist/uPlot.esm.js';
import baseStyle from '../page/styles/base.css';
import controlsStyle from '../page/styles/controls.css';
import layoutStyle from '../page/styles/layout.css';
import headerStyle from '../page/styles/header.css';
import cardStyle from '../page/styles/card.css';
import viewsStyle from '../page/styles/views.css';
import listsStyle from '../page/styles/lists.css';
import reportStyle from '../page/styles/report.css';
import appScript from '../page/app.page.js';
import bannersScript from '../page/banners.page.js';
import cardScript from '../page/card.page.js';
import chartScript from '../page/chart.page.js';
import detailsScript from '../page/details.page.js';
import domScript from '../page/dom.page.js';
import eventsScript from '../page/events.page.js';
import hostsScript from '../page/hosts.page.js';
import liveScript from '../page/live.page.js';
import overviewScript from '../page/overview.page.js';
import reportScript from '../page/report.page.js';
import routerScript from '../page/router.page.js';
import sparkScript from '../page/spark.page.js';
import themeScript from '../page/theme.page.js';
import themesScript from '../page/themes.page.js';
import useScript from '../page/use.page.js';
import wordsScript from '../page/words.page.js';
import icon from '../page/icon.svg';
import index from '../page/index.html';

type PageFile = {readonly type: string; readonly text: string};

const html = (text: string): PageFile => ({type: 'text/html; charset=utf-8', text});
const style = (text: string): PageFile => ({type: 'text/css; charset=utf-8', text});
const script = (text: string): PageFile => ({type: 'text/javascript; charset=utf-8', text});

/** By path. */
export const pageFiles: ReadonlyMap<string, PageFile> = new Map([
	['/', html(index)],
	['/icon.svg', {type: 'image/svg+xml', text: icon}],
	['/page/base.css', style(baseStyle)],
	['/page/controls.css', style(controlsStyle)],
	['/page/layout.css', style(layoutStyle)],
	['/page/header.css', style(headerStyle)],
	['/page/card.css', style(cardStyle)],
	['/page/views.css', style(viewsStyle)],
	['/page/lists.css', style(listsStyle)],
	['/page/report.css', style(reportStyle)],
	['/page/app.page.js', script(appScript)],
	['/page/banners.page.js', script(bannersScript)],
	['/page/card.page.js', script(cardScript)],
	['/page/chart.page.js', script(chartScript)],
	['/page/details.page.js', script(detailsScript)],
	['/page/dom.page.js', script(domScript)],
	['/page/events.page.js', script(eventsScript)],
	['/page/hosts.page.js', script(hostsScript)],
	['/page/live.page.js', script(liveScript)],
	['/page/overview.page.js', script(overviewScript)],
	['/page/report.page.js', script(reportScript)],
	['/page/router.page.js', script(routerScript)],
	['/page/spark.page.js', script(sparkScript)],
	['/page/theme.page.js', script(themeScript)],
	['/page/themes.page.js', script(themesScript)],
	['/page/use.page.js', script(useScript)],
	['/page/words.page.js', script(wordsScript)],
	['/vendor/uplot.css', style(uplotStyle)],
	['/vendor/uplot.js', script(uplotScript)],
]);
