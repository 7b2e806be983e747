// Notes: a note to read and to write. What is typed is kept whatever happens: failures, a lost session, a lost race.

import {call, ChangeQueue, newId, Problem, quietly} from './api.js';
import {h, replace} from './dom.js';
import {ask, attempt, dialog, toast} from './overlay.js';
import {address, keepDraft, whenDraftChanges} from './parts.js';
import {pictureOf, placed, placeField} from './notes-place.js';
import {boxes, checked, firstLine, noteText} from './notes-text.js';
import {askToDelete, draftAt, draftKey, loginForm, noteDraft, sayGone, t as common, zoned} from './notes-parts.js';
import {define, langOf} from './texts.js';
import {button, words} from './ui.js';
import './map.js';

const t = define({
  en: {
    note: 'Note', edit: 'Edit', asBefore: 'The note is as before', save: 'Save', text: 'Text', saved: 'Note saved',
    hint: 'Start typing your thoughts here...',
    race: 'This note was changed elsewhere',
    raceText: 'Nothing was overwritten. Choose a text, or go on editing yours.', mine: 'Your text',
    theirs: 'The saved text', keepMine: 'Save mine', takeTheirs: 'Take the saved one',
    changed: 'This note was just changed elsewhere. You will be asked when you save.',
    gone: 'This note was deleted elsewhere',
    goneText: 'Your text is still here. Save it as a new note?', saveNew: 'Save as new note',
    ended: 'You were logged out. Your text is kept: save it, and you will be asked to log in.',
    again: 'Please log in again', againText: 'Your text is kept. It is saved as soon as you are logged in.',
    bring: 'Bring back', box: 'Add a check box',
    kept: 'Your text is here again. It is not saved yet.', unsaved: 'You changed this note and did not save it.',
  },
  ru: {
    note: 'Заметка', edit: 'Изменить', asBefore: 'Заметка прежняя', save: 'Сохранить', text: 'Текст',
    saved: 'Заметка сохранена', hint: 'Начните записывать свои мысли...',
    race: 'Заметку изменили в другом месте',
    raceText: 'Ничего не перезаписано. Выберите текст или продолжайте править свой.',
    mine: 'Ваш текст', theirs: 'Сохранённый текст', keepMine: 'Сохранить мой',
    takeTheirs: 'Взять сохранённый',
    changed: 'Заметку только что изменили в другом месте. При сохранении вас спросят.',
    gone: 'Заметку удалили в другом месте', goneText: 'Ваш текст остался. Сохранить его новой заметкой?',
    saveNew: 'Сохранить новой',
    ended: 'Сеанс завершён. Текст остался: сохраните его, и вас попросят войти.', again: 'Войдите снова',
    againText: 'Ваш текст сохранён здесь и будет записан, как только вы войдёте.',
    bring: 'Вернуть', box: 'Добавить флажок',
    kept: 'Ваш текст снова здесь. Он ещё не сохранён.', unsaved: 'Вы изменили эту заметку и не сохранили её.',
  },
});

/** Opens the screen of a new note. */
export function openNew(screen) {
  const {lat, lon, name = null} = Object.fromEntries(screen.query);
  const place = lat && lon ? {lat: Number(lat), lon: Number(lon), name} : null;
  new Editor(screen, {body: '', place, version: null}).open();
}

/** Opens the screen of a note. */
export function openNote(screen) {
  const href = `/v1/notes/${screen.params.id}`;
  let editor = null;
  let note = null;
  const changes = new ChangeQueue();
  const read = (fresh = note) => {
    note = fresh;
    editor = null;
    address(screen, {edit: null});
    show(screen, note, write, check);
    resource.soon();
  };
  /** Checks off a line, after those before it. */
  const check = async (line, done) => {
    await attempt(() => changes.add(async () => {
      const {data} = await call(zoned(href), {method: 'PATCH', body: {body: checked(note.body, line, done)},
        headers: {'If-Match': `"${note.version}"`}});
      note = data;
    }));
    if (!changes.busy && !editor && !screen.signal.aborted) read();
  };
  const write = async () => {
    // Lines that were checked off just now are in the text.
    if (changes.busy) await attempt(() => changes.add(async () => {}));
    if (editor || screen.signal.aborted) return;
    address(screen, {edit: 1});
    editor = new Editor(screen, {href, body: note.body, place: placed(note.location), version: note.version,
      made: note.created_at, back: read});
    editor.open();
  };
  screen.head({title: t('note'), back: '/notes'});
  const resource = screen.load(zoned(href), ({data}) => {
    note = data;
    if (editor) editor.seen(data);
    else if (screen.query.get('edit')) write();
    else show(screen, data, write, check);
  }, {skeleton: 'page', held: () => changes.busy, keep: ({status}) => status === 404 && editor?.gone()});
}

function show(screen, note, write, check) {
  const place = placed(note.location);
  screen.mayLeave = null;
  screen.unsaved = null;
  screen.head({title: firstLine(note.body).slice(0, 80), back: '/notes', quiet: true, actions: [
    button(t('edit'), write, {icon: 'edit', kind: 'primary compact'}),
    button(common('remove'), () => remove(screen, note), {icon: 'trash', bare: true, write: true, key: 'delete'})]});
  const article = h('article', {class: 'note'},
    h('div', {class: 'note-text'}, words('p', {class: 'row-sub'}, note.last_edited_text),
      h('p', {class: 'note-body card', dir: 'auto', lang: langOf(note.body)}, noteText(note.body, check))),
    place && h('figure', {class: 'note-place'}, pictureOf(place), h('figcaption', null, place.name)));
  screen.show(article);
  noteDraft(screen, `/v1/notes/${note.id}`, note.created_at).then(kept => kept && article.isConnected
    && article.before(h('p', {class: 'banner'}, h('span', {class: 'grow'}, t('unsaved')),
      button(t('goOn'), write))));
}

async function remove(screen, note) {
  const action = note.actions.find(each => each.id === 'delete');
  if (!await askToDelete(firstLine(note.body))) return;
  const answer = await call(action.href, {method: action.method});
  await screen.go('/notes', {replace: true});
  await sayGone(answer, () => screen.go(`/notes/${note.id}`));
}

/** The form of a note. */
class Editor {
  constructor(screen, {href = null, body, place, version, made = null, back = null}) {
    Object.assign(this, {screen, href, start: body, startPlace: place, version, startVersion: version, made, back,
      at: href, over: false, key: null, waits: false, was: null, before: {href, body, place}});
    this.text = h('textarea', {class: 'field-input note-input', id: 'note-text', name: 'body',
      placeholder: t('hint'), dir: 'auto', value: body, oninput: () => this.check()});
    this.save = button(t('save'), () => this.fly(), {kind: 'primary', icon: 'check', write: true});
    this.place = placeField(screen, place, () => this.check());
    this.notice = h('p', {class: 'banner', role: 'status', hidden: true});
  }

  get dirty() { return !this.over && (this.text.value !== this.start || this.place.changed); }

  open() {
    const {screen} = this;
    screen.mayLeave = () => this.mayLeave();
    for (const type of ['session-ended', 'session']) screen.on(type, event => this.sessionEnded(event));
    screen.unsaved = () => this.dirty;
    screen.head({title: this.href ? t('edit') : t('newNote'), actions: [
      button(t('cancel'), () => this.cancel(), {icon: 'close', bare: true}), this.save]});
    screen.show(this.notice, h('div', {class: 'note-edit'},
      h('div', {class: 'field'}, h('label', {for: 'note-text'}, t('text')), this.text,
        h('div', null, button(t('box'), boxes(this.text), {icon: 'check', kind: 'quiet'}))), this.place));
    this.check();
    this.text.focus();
    this.restore();
  }

  /** Finds what was typed before and not saved; it is brought back at once, or offered if there is something new. */
  async restore() {
    if (this.waits) return;
    this.waits = true;
    this.asked = quietly(draftKey(this.screen, this.at));
    this.key = await this.asked;
    if (this.key) whenDraftChanges(this.key, () => { this.screen.stored = false; }, this.screen.signal);
    const kept = this.key && draftAt(this.key, this.made);
    if (kept && !this.dirty && !this.screen.signal.aborted) { this.bring(kept); return; }
    if (kept) this.offer(kept);
    this.kept();
  }

  /** Offers an earlier text, which is kept beside what is typed until one of them is chosen. */
  offer(kept) {
    this.was = kept;
    const chosen = run => () => { this.was = null; offer.remove(); run(); };
    const offer = h('p', {class: 'banner'}, h('span', {class: 'grow'}, this.href ? t('unsaved') : common('draft')),
      button(t('bring'), chosen(() => this.bring(kept))), button(t('discard'), chosen(() => this.kept())));
    this.notice.before(offer);
  }

  /** Brings back a draft; of a new note, what is typed by now stays below it. */
  bring({body, place, version, was}) {
    if (this.over || this.screen.signal.aborted) return;
    this.text.value = this.href || !this.text.value ? body : `${body}\n${this.text.value}`;
    if (place || this.href) this.place.set(place && {name: null, ...place});
    this.version = version;
    if (was) this.offer(was);
    this.kept();
    toast(t('kept'), {action: {title: t('discard'), run: () => this.discard()}});
  }

  discard() {
    this.text.value = this.start;
    this.version = this.startVersion;
    this.place.set(this.startPlace);
  }

  /** From now on what is typed is kept, in place of what was before. */
  kept() {
    this.waits = this.over;
    if (this.key) this.check();
  }

  /** Keeps what is typed while it is not saved, but nothing of an account that has logged out. */
  keep() {
    if (!this.place || this.waits || (this.ended && this.dirty) || this.screen.signal.aborted) return;
    if (!this.key) { if (this.dirty) this.restore(); return; }
    const value = this.dirty ? {body: this.text.value, place: this.place.place, version: this.version, made: this.made,
      was: this.was} : this.was;
    this.screen.stored = keepDraft(this.key, value);
    // The note may be edited anew in this screen, and that is kept by another form.
    this.waits = this.over;
  }

  /** Keeps the text on the screen when the session ends: it is saved after the next login. */
  sessionEnded({app, out = true}) {
    if (app !== 'notes') return;
    if (!out) this.isOwn();
    else if (this.dirty) {
      this.ended = Date.now();
      this.screen.stored = false;
      this.notice.hidden = false;
      replace(this.notice, t('ended'));
    }
  }

  /** Tells whether the text is of the account that is logged in; then it is kept again. */
  async isOwn() {
    await this.asked;
    const own = this.key && await quietly(draftKey(this.screen, this.at)) === this.key;
    if (own) this.ended = null;
    return own;
  }

  /** Saves the text before another screen is shown; what follows the end of a session by itself does not lead away. */
  async mayLeave() {
    await null;
    if (!this.dirty) return true;
    if (Date.now() - (this.ended ?? 0) < 3000) return false;
    // The address is that of the next screen by now.
    this.leaving ??= this.saves().finally(() => { this.leaving = null; });
    return await this.leaving ?? this.mayLose();
  }

  /** Saves the text; false if its user goes on with it, null if it cannot be saved. */
  async saves() {
    // It may be under way.
    if (this.flight) await quietly(this.flight);
    while (this.dirty) {
      if (!this.text.value.trim() || !this.place.valid() || !await this.isOwn()) return null;
      try { await this.done((await this.store()).data); } catch (problem) {
        if (!(problem instanceof Problem)) throw problem;
        if (!this.href || ![404, 412].includes(problem.status)) return null;
        await attempt(() => this.failed(problem));
        return !this.dirty;
      }
    }
    return true;
  }

  /** Asks before a text is lost. */
  async mayLose() {
    if (!this.dirty) return true;
    this.over = await ask({title: t('lose'), message: t('loseText'), buttons: [t('discard'), t('goOn')]});
    if (this.over) this.keep();
    return this.over;
  }

  check() {
    this.save.disabled = this.text.value.trim() === '';
    this.keep();
  }

  /** Nothing is to be kept any more. */
  end() {
    this.over = true;
    this.keep();
  }

  /** Tells that the note was read again while it is edited. */
  seen(note) {
    const other = note.version !== this.version;
    this.notice.hidden = !other;
    replace(this.notice, other && t('changed'));
  }

  /** Tells that the note is gone; false if nothing is lost by that. */
  gone() {
    if (!this.dirty) return false;
    this.notice.hidden = false;
    replace(this.notice, h('span', {class: 'grow'}, t('gone')), button(t('saveNew'), () => this.saveNew()));
    return true;
  }

  async cancel() {
    if (!await this.mayLose()) return;
    this.end();
    if (this.back) this.back();
    else await this.screen.go('/notes');
  }

  /** What would be saved, to be compared. */
  get now() { return JSON.stringify([this.text.value, this.place.place]); }

  store() {
    const body = {body: this.text.value};
    if (this.place.changed || !this.href) body.location = this.place.place;
    // A new note that is sent again is not made twice.
    if (this.sent !== this.now) Object.assign(this, {sent: this.now, id: newId()});
    return call(zoned(this.href ?? '/v1/notes'), this.href
      ? {method: 'PATCH', body, headers: {'If-Match': `"${this.version}"`}}
      : {method: 'POST', body, headers: {'Idempotency-Key': this.id}});
  }

  fly() {
    this.flight = this.send();
    return this.flight;
  }

  async send() {
    if (!this.place.valid()) return;
    if (this.ended && !await this.isOwn()) { await this.login(); return; }
    try { await this.done((await this.store()).data); } catch (problem) { await this.failed(problem); }
  }

  async failed(problem) {
    if (problem.status === 412 && this.href) await this.settle();
    else if (problem.status === 404 && this.href) await this.lost();
    else if (problem.status === 401) await this.login();
    else throw problem;
  }

  /** Leads to the note, unless something was typed while it was sent: then that is a change of it. */
  async done(note) {
    this.say(note);
    if (this.now !== this.sent) {
      if (!this.href && this.key) {
        keepDraft(this.key, this.was);
        this.at = `/v1/notes/${note.id}`;
        this.key = `${this.key.split('/')[0]}/${this.at}`;
        this.was = null;
      }
      const [start, place] = JSON.parse(this.sent);
      Object.assign(this, {href: `/v1/notes/${note.id}`, version: note.version, startVersion: note.version, start,
        made: note.created_at});
      // A text that its user has saved is what an undo leads back to.
      if (!this.leaving) this.before = {href: this.href, body: start, place};
      this.check();
      return;
    }
    await this.leave(note);
  }

  /** Says that the note is saved; if nobody asked for that, with a way back. */
  say({id, version}) {
    const {before: {href, body, place}, leaving, place: {changed}} = this;
    const run = async () => {
      await call(href ?? `/v1/notes/${id}`, {headers: {'If-Match': `"${version}"`},
        ...(href ? {method: 'PATCH', body: {body, ...(changed && {location: place})}} : {method: 'DELETE'})});
      toast(href ? t('asBefore') : common('gone'));
    };
    toast(t('saved'), leaving ? {action: {title: t('undo'), run}} : {});
  }

  /** Leads to the note as it is saved, unless another screen is on its way. */
  async leave(note) {
    this.end();
    if (this.leaving) return;
    if (this.back) this.back(note);
    else await this.screen.go(`/notes/${note.id}`, {replace: true});
  }

  /** Shows both texts after a lost race; nothing is overwritten before the user has chosen. */
  async settle() {
    const {data} = await call(zoned(this.href), {refresh: true});
    const column = (title, text) => h('section', null, h('h3', null, title),
      h('p', {class: 'note-body card', dir: 'auto', lang: langOf(text)}, text));
    const answer = await dialog(t('race'), [h('p', null, t('raceText')), h('div', {class: 'columns'},
      column(t('mine'), this.text.value), column(t('theirs'), data.body))], {wide: true, actions: [
      {title: t('goOn'), value: 'on'}, {title: t('takeTheirs'), value: 'theirs'},
      {title: t('keepMine'), value: 'mine', kind: 'primary'}]});
    if (answer !== 'mine' && answer !== 'theirs') return;
    this.version = data.version;
    this.before = {href: this.href, body: data.body, place: placed(data.location)};
    if (answer === 'mine') await this.send();
    else await this.leave(data);
  }

  async lost() {
    const save = await ask({title: t('gone'), message: t('goneText'), buttons: [t('saveNew'), t('goOn')]});
    if (save) await this.saveNew();
  }

  saveNew() {
    Object.assign(this, {href: null, version: null, back: null});
    return this.fly();
  }

  async login() {
    const done = await dialog(t('again'), close => [h('p', null, t('againText')),
      loginForm('login', {username: '', password: ''}, () => close(true))]);
    if (!done) return;
    this.ended = null;
    await this.send();
  }
}
