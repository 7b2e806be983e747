// Notes: the parts that its screens share: strings, tabs, addresses, the form of the login, and typed text that is not
// saved.

import {call, quietly, withQuery} from './api.js';
import {reopen} from './events.js';
import {field, form} from './form.js';
import {ask, menu, toast} from './overlay.js';
import {draftOf, hasDrafts} from './parts.js';
import {define, zone} from './texts.js';
import {button, linkButton} from './ui.js';

/** The strings of Notes. */
export const t = define({
  en: {
    search: 'Search notes', remove: 'Delete note',
    nothingText: 'No note has these words.', signIn: 'Sign In', signUp: 'Sign Up',
    name: 'User name', password: 'Password', newHere: 'Not registered?', known: 'Already registered?',
    rule: 'At least one character. A forgotten password cannot be recovered.',
    needName: 'Please enter a user name.', needPassword: 'Please enter a password.', gone: 'Note deleted',
    lead: 'Your notes are kept by this Larder.', list: 'Your notes',
    sure: 'Move this note to the trash?',
    keep: 'Keep it', account: 'Account and files', logout: 'Log Out', logoutOf: name => `Log out (${name})`,
    mine: 'Download my data', draft: 'A note that you began is not saved yet',
  },
  ru: {
    search: 'Поиск заметок',
    remove: 'Удалить заметку', nothingText: 'Нет заметок с этими словами.',
    signIn: 'Войти', signUp: 'Зарегистрироваться', name: 'Имя пользователя', password: 'Пароль',
    newHere: 'Ещё нет учётной записи?', known: 'Уже есть учётная запись?',
    rule: 'Хотя бы один символ. Забытый пароль не восстановить.',
    needName: 'Введите имя пользователя.', needPassword: 'Введите пароль.', gone: 'Заметка удалена',
    lead: 'Ваши заметки хранит этот Larder.', list: 'Ваши заметки', sure: 'Переместить заметку в корзину?',
    keep: 'Оставить', account: 'Учётная запись и файлы', logout: 'Выйти', logoutOf: name => `Выйти (${name})`,
    mine: 'Скачать мои данные', draft: 'Начатая заметка ещё не сохранена',
  },
});

/** The tabs of Notes. */
export const tabs = [{href: '/notes', title: t('notes')}, {href: '/notes/map', title: t('map')},
  {href: '/notes/people', title: t('people')}];

/** Gives the address of a screen of the API with the browser's time zone. */
export function zoned(href, values = {}) { return withQuery(href, {tz: zone, ...values}); }

/** The account that this document has last seen: while Larder is away, what is typed is kept for it. */
let account = null;

/** Gives the name of the account; while Larder is away, that which this document has last seen. */
async function accountName(screen) {
  try { account = (await call('/v1/notes/session', {signal: screen.signal})).data.name; } catch (problem) {
    if (account === null || problem.code !== 'larder-unreachable') throw problem;
  }
  return account;
}

/** Gives the key of what is typed and not saved of a note, or of a new one; another account has another key. */
export async function draftKey(screen, href) {
  return `notes.${encodeURIComponent(await accountName(screen))}/${href ?? 'new'}`;
}

/** Gives what was typed and not saved of a note, or null; after a reset another note may have its address. */
export function draftAt(key, made) {
  const kept = draftOf(key);
  return kept?.made === made ? kept : null;
}

/** Gives what was typed and not saved of a note by the time it was made, or of a new one, or null. */
export async function noteDraft(screen, href, made = null) {
  if (!hasDrafts('notes.')) return null;
  const key = await quietly(draftKey(screen, href));
  return key ? draftAt(key, made) : null;
}

/** Makes the form of login or registration; `done` is called when there is a session. */
export function loginForm(mode, typed, done) {
  const name = field('username', t('name'), {autocomplete: 'username', value: typed.username, autocapitalize: 'none',
    spellcheck: 'false', check: text => (text ? null : t('needName'))});
  const password = field('password', t('password'), {type: 'password', value: typed.password,
    autocomplete: mode === 'login' ? 'current-password' : 'new-password', hint: mode === 'register' && t('rule'),
    check: text => (text ? null : t('needPassword'))});
  return form([name, password], t(mode === 'login' ? 'signIn' : 'signUp'),
    async ({username, password: secret}, signal) => {
    await call('/v1/notes/session', {method: 'POST', login: true, signal, body: {mode, username, password: secret}});
    reopen('notes');
    await done();
  });
}

/** Asks before a note is deleted. */
export function askToDelete(title) {
  return ask({title: t('sure'), message: title, buttons: [t('remove'), t('keep')]});
}

/** Says that a note is in the trash, with the way back if that can be loaded; `again` shows what is restored. */
export async function sayGone(answer, again) {
  const {sayDeleted} = await import('./trash.js').catch(() => ({}));
  if (sayDeleted) sayDeleted(t('gone'), answer, again); else toast(t('gone'));
}

/**
 * Makes the buttons of a tab: a new note, and "…" with `entries`, the data of the account, and the way out of it, which
 * `people` has.
 */
export function actionsOf(screen, people, entries = () => []) {
  const open = async () => {
    const name = await quietly(accountName(screen));
    if (!screen.signal.aborted) menu(more, t('account'), [...entries(),
      {title: t('mine'), icon: 'download', href: '/v1/export', download: 'larder.zip'},
      {title: name ? t('logoutOf', name) : t('logout'), icon: 'logout',
        run: async () => (await people()).logout(screen)}]);
  };
  const more = button(t('account'), open, {bare: true, icon: 'more'});
  return [linkButton(t('newNote'), '/notes/new', {kind: 'primary compact', icon: 'plus'}), more];
}
