// Notes: the people of the service, and logging out, as in the app.

import {withQuery} from './api.js';
import {h} from './dom.js';
import {endSession, newDocument} from './events.js';
import {pagedList} from './list.js';
import {ask} from './overlay.js';
import {forgetDrafts, hasDrafts, searchField} from './parts.js';
import {actionsOf, draftKey, tabs} from './notes-parts.js';
import {define} from './texts.js';
import {empty, picture, words} from './ui.js';

const t = define({
  en: {search: 'Search people', person: 'Person', email: 'E-mail',
  gender: 'Gender',
    nothing: 'No person found', nothingText: 'No name has these words.'},
  ru: {search: 'Поиск людей', person: 'Человек', email: 'Эл. почта', gender: 'Пол',
    nothing: 'Никого не найдено', nothingText: 'Нет имён с этими словами.'},
});

/** Opens the list of people. */
export function openPeople(screen) {
  const href = query => withQuery('/v1/notes/people', {limit: 60, q: query});
  screen.head({title: t('people'), tabs, actions: [screen.refreshButton(() => list.resource),
    actionsOf(screen, () => ({logout}))]});
  screen.body.before(h('div', {class: 'toolbar'},
    searchField(screen, t('search'), typed => list.resource.go(href(typed)))));
  const list = pagedList(screen, {href: href(screen.query.get('q')), key: item => item.id, label: t('people'),
    row: personRow, class: 'people', empty: () => empty({title: t('nothing'), text: t('nothingText')},
    {icon: 'people'})});
}

function personRow(item) {
  return h('li', {class: 'row'}, picture(item.avatar_url, '', {class: 'avatar', sign: 'user'}),
    h('div', {class: 'row-main'}, h('a', {class: 'row-link', href: `/notes/people/${item.id}`}, item.full_name),
      h('span', {class: 'row-sub'}, parted(item.email_text))));
}

/** An address may break before its @. */
const parted = text => text.split(/(?=@)/).flatMap((part, index) => [index > 0 && h('wbr'), part]);

/** Logs out; what the account has typed and not saved does not stay here. */
export async function logout(screen) {
  const drafts = await draftKey(screen, '');
  const sure = {title: t('lose'), message: t('loseText'), buttons: [t('discard'), t('cancel')]};
  if (hasDrafts(drafts) && !await ask(sure)) return;
  await endSession('notes', '/v1/notes/session');
  forgetDrafts(drafts);
  newDocument('notes');
}

/** Opens one of the people. */
export function openPerson(screen) {
  screen.head({title: t('person'), back: '/notes/people'});
  const resource = screen.load(`/v1/notes/people/${screen.params.id}`, ({data}) => {
    screen.head({title: data.full_name, back: '/notes/people', actions: [screen.refreshButton(() => resource)]});
    screen.show(h('div', {class: 'card person'}, picture(data.avatar_url, data.full_name,
      {class: 'avatar large', sign: 'user'}),
      h('dl', {class: 'facts'}, h('dt', null, t('email')), h('dd', null,
        h(data.email ? 'a' : 'span', {href: data.email && `mailto:${data.email}`}, parted(data.email_text))),
        h('dt', null, t('gender')), words('dd', {}, data.gender_text))));
  });
}
