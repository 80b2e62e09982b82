// The page around the sections: skip link, bar with navigation, and which section is being read.
import {h} from './dom';
import {themeButton} from './theme';

export interface Entry {
  /// What the navigation calls it.
  name: string;
  content: HTMLElement;
}

/// Returns what shows other sections in the place of these, with the same names and ids.
/// `choice` stays in sight below the bar.
export function frame(
    name: string, entries: Entry[], choice: HTMLElement | false = false): (others: Entry[]) => void {
  const links = entries.map((entry) => h('a', {href: `#${entry.content.id}`}, entry.name));
  const page = document.getElementById('page')!;
  page.before(
      h('a', {class: 'skip', href: '#page'}, 'Skip to the report'),
      h('header', {class: 'bar'},
          h('div', {class: 'bar-inner'},
              h('span', {class: 'name', title: name}, name),
              h('nav', {'aria-label': 'Sections'},
                  h('ul', {}, ...links.map((link) => h('li', {}, link)))),
              themeButton()),
          choice));
  page.tabIndex = -1;
  page.append(...entries.map((entry) => entry.content));
  document.title = `${name} – Kindred`;
  let following = follow(entries, links);
  return (others) => {
    const read = links.findIndex((link) => link.hasAttribute('aria-current'));
    following.disconnect();
    page.replaceChildren(...others.map((entry) => entry.content));
    following = follow(others, links);
    // Figures are drawn once their width is known; then the section has its place.
    requestAnimationFrame(() => requestAnimationFrame(() =>
      read > 0 ? others[read].content.scrollIntoView() : scrollTo(0, 0)));
  };
}

/// Marks the section at the top third of the screen.
function follow(entries: Entry[], links: HTMLAnchorElement[]): IntersectionObserver {
  const observer = new IntersectionObserver((changes) => {
    for (const change of changes) {
      if (!change.isIntersecting) continue;
      const index = entries.findIndex((entry) => entry.content === change.target);
      links.forEach((link, i) => {
        if (i === index) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      });
    }
  }, {rootMargin: '-30% 0px -69% 0px'});
  for (const entry of entries) observer.observe(entry.content);
  return observer;
}
