/*
Leaves out of Preact what the page never uses, while the page is bundled: a fifth of Preact is for pages that a server has drawn (hydration,
Suspense), for portals, contexts and MathML, and for methods of classes that neither the page nor Preact's hooks have.
*/
import {replaceOnce, type Replacements} from './replace.ts';

const changes: Replacements = [
	// Hydration and Suspense: nodes that are there before the page is drawn.
	['128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&(r.__u|=c,p=o=[],8==s.nodeType?l=B(s,o):o.push(s),l=o[0]||l),', ''],
	[
		'if(e.length=v,r.__v=null,c||o)if(t&&t.then){if(r.__u|=128|c,o){for(~(T=o.indexOf(l||void 0))||(T=o.length);(N=o[T-1])&&8==N.nodeType;)T--;for(;T<o.length;T++)if(N=o[T])if(o[T]=null,O){if(N==P)break}else{if(8!=N.nodeType)break;N.data.startsWith("$s")&&(P=B(O=N))}}if(!O){for(;l&&8==l.nodeType&&l.nextSibling;)l=l.nextSibling;O=l}(s=B(O=r.__c.__z||(r.__c.__z=O)))?(r.__e=O,l=s):r.__e=l,l=l&&l.nextSibling}else o&&o.some(g);else r.__e=u.__e;',
		'e.length=v,r.__v=null,r.__e=u.__e;',
	],
	['t&&t.then||D(r)', 'D(r)'],
	[
		'function B(n,t){if(n&&8==n.nodeType&&n.data.startsWith("$s"))for(var r=1;n=n.nextSibling;){if(8==n.nodeType)if(n.data.startsWith("$s"))r++;else if(n.data.startsWith("/$s")&&!--r)return n;t&&t.push(n)}}',
		'',
	],
	['!u&&(i=t.__c)&&(i=i.__z)&&(f=B(i,o=[]))&&(i==t.__e&&o.some(g),g(f),g(i)),', ''],
	['t=o;(t=t&&t.nextSibling)&&8==t.nodeType&&!t.data.startsWith("$s"););return t', 't=o;;)return t&&t.nextSibling'],
	['r.__u&=-161,p&&p.some(g),', ''],
	['if(M=a.ownerDocument||document,!C)return M.createTextNode(x);t=M.createElementNS(f,C,x.is?x:a),l&&(n.__m&&n.__m(r,o),l=!1),o=null', 'if(!C)return document.createTextNode(x);t=document.createElementNS(f,C)'],
	['if(a="template"==C&&t.content||t,o="textarea"==C&&null!=x.defaultValue?null:o&&d.call(a.childNodes),!l&&o)for($={},s=0;s<t.attributes.length;s++)$[(k=t.attributes[s]).name]=k.value;for(s in $)', 'for(s in $)'],
	['I(a,w(_)?_:[_],r,u,i,f,o,e,o?o[0]:u.__k&&S(u,0),l,c),o&&o.some(g)),l&&"textarea"!=C||(', 'I(t,w(_)?_:[_],r,u,i,f,e,u.__k&&S(u,0),c)),('],
	['if("svg"==C?f="http://www.w3.org/2000/svg":"math"==C?f="http://www.w3.org/1998/Math/MathML":f||(f="http://www.w3.org/1999/xhtml"),o)for(s=0;s<o.length;s++)if((k=o[s])&&(C?k.localName==C:3==k.nodeType)){t=k,o[s]=null;break}if(!t)', 'if("svg"==C&&(f="http://www.w3.org/2000/svg"),!t)'],
	['h?(l||y&&(h.__html==y.__html||h.__html==t.innerHTML)||(t.innerHTML=h.__html),r.__k=[]):(y&&(t.textContent=""),("foreignObject"==C||"http://www.w3.org/1998/Math/MathML"==f&&v.test(C))&&(f="http://www.w3.org/1999/xhtml"),', '('],
	['"dangerouslySetInnerHTML"==s?y=k:"children"==s||', '"children"==s||'],
	['"children"==s?_=k:"dangerouslySetInnerHTML"==s?h=k:', '"children"==s?_=k:'],
	[':l&&"function"!=typeof k||$[s]===k||', ':$[s]===k||'],
	['$===x||l&&t.data==x||(t.data=x)', '$===x||(t.data=x)'],
	['function F(t,r,u,i,f,o,e,l,c,a)', 'function F(t,r,u,i,f,e,c)'],
	['F(u.__e,r,u,i,f,o,e,c,a,t)', 'F(u.__e,r,u,i,f,e,a)'],
	['function z(t,r,u,i,f,o,e,l,c,a)', 'function z(t,r,u,i,f,e,l,a)'],
	['l=I(t,w(A)?A:[A],r,u,i,f,o,e,l,c,a),M.__P&&(r.__e=null,l=s),', 'l=I(t,w(A)?A:[A],r,u,i,f,e,l,a),'],
	['function I(n,t,r,u,i,f,o,e,l,c,a)', 'function I(n,t,r,u,i,f,e,l,a)'],
	['z(n,v,h,i,f,o,e,l,c,a)', 'z(n,v,h,i,f,e,l,a)'],
	['z(e,r,u,t.__n,e.namespaceURI,32&u.__u?[i]:null,f,i||S(u),32&u.__u,o)', 'z(e,r,u,t.__n,e.namespaceURI,f,i||S(u),o)'],
	['n.__&&n.__(t,r),9==r.nodeType&&(r=r.documentElement),i=(u=t&&32&t.__u)?null:r.__k,', 'i=r.__k,'],
	['z(r,r.__k,i||p,p,r.namespaceURI,i?null:r.firstChild?d.call(r.childNodes):null,f,i?i.__e:r.firstChild,u,o)', 'z(r,r.__k,i||p,p,r.namespaceURI,f,i?i.__e:r.firstChild,o)'],
	// Portals.
	['s.props.children:s,M.__P&&(s=l,f=(t=M.__P).namespaceURI,c=o=null,u.props&&u.props.__P!=t&&(u.__k.some(function(n){n&&J(n,n)}),u.__k=null),l=u.__k?S(u,0):null),', 's.props.children:s,'],
	['return"function"!=typeof n.type||n.props.__P?null:S(n)', 'return"function"!=typeof n.type?null:S(n)'],
	['(n=n.__)&&n.__c&&!n.props.__P', '(n=n.__)&&n.__c'],
	['if(n.props.__P)return t;', ''],
	['"function"!=typeof t.type||u&&!t.props.__P', '"function"!=typeof t.type||u'],
	// Contexts, and methods of classes.
	['j=(s=V.contextType)&&i[s.__c],L=s?j?j.props.value:s.__:i,', 'L=i,'],
	['j&&j.sub(d),', ''],
	[',V.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=_({},d.__s)),_(d.__s,V.getDerivedStateFromProps(M,d.__s))))', ')'],
	['M!==k&&C&&!V.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(M,L),', ''],
	['d.componentWillUpdate&&d.componentWillUpdate(M,d.__s,L),', ''],
	['C&&!V.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),', ''],
	['d.getChildContext&&(i=_({},i,d.getChildContext())),C&&u.__c&&d.getSnapshotBeforeUpdate&&(m=d.getSnapshotBeforeUpdate(k,b)),', ''],
	['d.componentDidUpdate(k,b,m)', 'd.componentDidUpdate(k,b)'],
	['try{if((e=(o=i.constructor)&&o.getDerivedStateFromError)&&i.setState(o.getDerivedStateFromError(n)),i.componentDidCatch&&(i.componentDidCatch(n,u||{}),e=1),e&&8&i.__g)return void(i.__g|=2)}catch(t){n=t}', ''],
	['2&d.__g&&(d.__g|=1)', ''],
	[',1&d.__g&&(d.__g&=-4)', ''],
	['(d=u.__c)?(r.__c=d,):', '(d=u.__c)?r.__c=d:'],
	// Attributes of elements that the page has not.
	['t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s")', ''],
	['&&"rowSpan"!=t&&"colSpan"!=t&&"role"!=t&&"popover"!=t&&', '&&"role"!=t&&'],
	['n.setAttribute(t,"popover"==t&&1==r?"":r)', 'n.setAttribute(t,r)'],
	['if("string"==typeof r)n.style.cssText=r;else{if("string"==typeof u&&(n.style.cssText=u=""),u)', '{if(u)'],
	[',f=t!=(t=t.replace(l,"$1")),(t=t.slice(2))', ',(t=t.slice(2))'],
	['r?n.addEventListener(t,o,f):n.removeEventListener(t,o,f)', 'r?n.addEventListener(t,o):n.removeEventListener(t,o)'],
	['l=/(PointerCapture)$|Capture$/i,', ''],
	['||"value"==s&&"defaultValue"in x||"checked"==s&&"defaultChecked"in x||', '||'],
	['"progress"==C&&null==b?t.removeAttribute(s):null==b||b===t[s]&&("progress"!=C||b)||', 'null==b||b===t[s]||'],
	// Options that only the tools for developers set.
	['n.vnode&&n.vnode(r),', ''],
	['n.event?n.event(r):r', 'r'],
	['u.push(t),f++))&&i==n.debounceRendering||((i=n.debounceRendering)||queueMicrotask)(H)', 'u.push(t),f++))||queueMicrotask(H)'],
	['(i||queueMicrotask)(H)', 'queueMicrotask(H)'],
];

/** The file of Preact that is changed. */
export const preactModule = /\/preact\/dist\/preact\.mjs$/;

export const withoutUnusedParts = (code: string): string =>
	replaceOnce(code, changes, 'Preact has changed, and .config/preact-parts.ts has not');
