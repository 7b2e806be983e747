// PDF: a new document of photos: chosen, dropped or pasted, put in order, sent with progress.

import {call, newId, Problem, upload, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {icon} from './icons.js';
import {ask, showProblem} from './overlay.js';
import {pickFiles, takeFiles} from './parts.js';
import {sortHandle} from './sort.js';
import {bytes, define, langOf, zone} from './texts.js';
import {button, linkButton, problemView} from './ui.js';

const t = define({
  en: {
    add: 'Choose photos', more: 'Add more', camera: 'Take a photo',
    none: 'Choose photos or PDFs',
    noneText: 'JPEG, PNG, HEIC, WebP, GIF, TIFF, AVIF and PDF. You can also drop or paste them here.',
    drop: 'Drop photos to add them', make: 'Make PDF', single: 'One of all photos',
    separate: 'One of each photo', page: 'Page', fit: 'As large as the photo', quality: 'Quality',
    original: 'As it is',
    high: 'High', medium: 'Medium', low: 'Small file', remove: name => `Leave out ${name}`, sending: 'Sending',
    making: 'Making pages', wrong: 'This type cannot become a page. Leave it out.',
    made: count => `${count} documents are made`,
    saveAll: 'Save all', files: 'Chosen files, in the order of the pages',
    leave: 'Leave without a document?', leaveText: 'The chosen files are left out.', failed: 'Nothing was made',
    leaveYes: 'Leave', leaveNo: 'Stay',
  },
  ru: {
    add: 'Выбрать фото', more: 'Добавить ещё', camera: 'Снять', none: 'Выберите фото или PDF',
    noneText: 'JPEG, PNG, HEIC, WebP, GIF, TIFF, AVIF и PDF. Их можно и перетащить или вставить сюда.',
    drop: 'Отпустите фото, чтобы добавить', make: 'Сделать PDF',
    single: 'Один из всех фото', separate: 'По одному из каждого фото', page: 'Страница', fit: 'По размеру фото',
    quality: 'Качество', original: 'Как есть', high: 'Высокое', medium: 'Среднее', low: 'Маленький файл',
    remove: name => `Убрать ${name}`, sending: 'Отправка', making: 'Готовим страницы',
    wrong: 'Такой файл не станет страницей. Уберите его.', made: count => `Готово документов: ${count}`,
    saveAll: 'Сохранить все', files: 'Выбранные файлы в порядке страниц',
    leave: 'Уйти без документа?', leaveText: 'Выбранные файлы не будут использованы.',
    leaveYes: 'Уйти', leaveNo: 'Остаться',
    failed: 'Ничего не создано',
  },
});

const accepted = /\.(jpe?g|png|heic|heif|webp|gif|tiff?|avif|pdf)$/i;
const accept = 'image/*,application/pdf,.heic,.heif,.avif';

/** Opens the screen of a new document. */
export function openNew(screen) { new Maker(screen).open(); }

class Maker {
  constructor(screen) {
    Object.assign(this, {screen, files: [], sending: null, over: false});
    this.list = h('ol', {class: 'rows photos', 'aria-label': t('files')});
    this.problem = h('div', {role: 'alert'});
    this.work = h('div', {class: 'work', role: 'status', hidden: true});
    this.hint = h('div', {class: 'state'}, h('div', {class: 'state-sign'}, icon('image', 40)), h('h2', {}, t('none')),
      h('p', {}, t('noneText')), this.pickers('primary', t('add')));
    this.mode = choice(t('documents'), {single: t('single'), separate: t('separate')});
    this.page = choice(t('page'), {fit: t('fit'), a4: 'A4', a5: 'A5', a3: 'A3', letter: 'Letter'});
    this.quality = choice(t('quality'), {original: t('original'), high: t('high'), medium: t('medium'), low: t('low')});
    this.make = button(t('make'), () => this.send(), {kind: 'primary', icon: 'pdf', write: true});
    this.form = h('div', {class: 'stack'}, this.problem, this.list, this.pickers('', t('more')),
      h('div', {class: 'columns'}, this.mode, this.page, this.quality), this.work, h('div', {}, this.make));
  }

  pickers(kind, title) {
    const add = files => this.add(files);
    return h('div', {class: 'bar'}, button(title, () => pickFiles(add, {accept}), {kind, icon: 'plus'}),
      matchMedia('(pointer: coarse)').matches && button(t('camera'), () =>
        pickFiles(add, {accept: 'image/*', capture: 'environment', multiple: false}), {icon: 'camera'}));
  }

  open() {
    const {screen} = this;
    screen.head({title: t('newDocument'), back: '/pdf'});
    screen.show(this.hint, this.form);
    screen.root.dataset.drop = t('drop');
    takeFiles(screen.root, screen.signal, files => this.add(files));
    const unsaved = () => this.files.length > 0 && !this.over;
    screen.mayLeave = async () => !unsaved() || ask({title: t('leave'), message: t('leaveText'),
      buttons: [t('leaveYes'), t('leaveNo')]});
    screen.unsaved = unsaved;
    screen.signal.addEventListener('abort', () => {
      this.sending?.abort();
      for (const {url} of this.files) if (url) URL.revokeObjectURL(url);
    });
    this.draw();
    if (screen.query.get('shared')) this.addShared();
  }

  /** Adds what was shared to the installed pages; it is kept there until the document is made. */
  async addShared() {
    const {sharedFiles, forgetShared} = await import('./share.js');
    const files = await sharedFiles();
    this.made = () => forgetShared(files);
    this.add(files);
  }

  add(files) {
    for (const file of files) {
      const fits = accepted.test(file.name) || /^image\/|pdf$/.test(file.type);
      const drawn = /^image\/(jpeg|png|webp|gif|avif)/.test(file.type);
      this.files.push({file, url: drawn ? URL.createObjectURL(file) : null, wrong: fits ? null : t('wrong'),
        row: null});
    }
    replace(this.problem);
    this.draw();
  }

  draw() {
    const chosen = this.files.length > 0;
    this.hint.hidden = chosen;
    this.form.hidden = !chosen;
    for (const entry of this.files) {
      if (!entry.row) entry.row = this.row(entry);
      entry.row.classList.toggle('wrong', Boolean(entry.wrong));
      replace(entry.row.querySelector('.row-sub'), entry.wrong
        ? h('span', {class: 'field-error', lang: langOf(entry.wrong)}, entry.wrong) : bytes(entry.file.size));
    }
    replace(this.list, this.files.map(entry => entry.row));
    this.make.disabled = !chosen || this.files.some(entry => entry.wrong) || this.sending !== null;
  }

  row(entry) {
    const {file, url} = entry;
    const sorted = rows => { this.files = rows.map(row => this.files.find(other => other.row === row)); };
    const none = () => h('span', {class: 'photo file-sign'}, icon(/pdf$/i.test(file.name) ? 'pdf'
      : entry.wrong ? 'file' : 'image'));
    const look = url ? h('img', {src: url, alt: '', class: 'photo', onerror: event => event.target.replaceWith(none())})
      : none();
    return h('li', {class: 'row'}, sortHandle(() => entry.row, file.name, sorted), look,
      h('div', {class: 'row-main'}, h('span', {class: 'row-name', dir: 'auto'}, file.name),
        h('span', {class: 'row-sub'})),
      button(t('remove', file.name), () => this.remove(entry), {bare: true, icon: 'close'}));
  }

  remove(entry) {
    if (entry.url) URL.revokeObjectURL(entry.url);
    this.files = this.files.filter(other => other !== entry);
    replace(this.problem);
    this.draw();
  }

  /** Sends the files; a problem is shown at the file that it names, and all files stay. */
  async send() {
    const body = new FormData();
    for (const {file} of this.files) body.append('files', file, file.name);
    const requestId = newId();
    this.sending = new AbortController();
    this.draw();
    const bar = this.progress(requestId);
    try {
      const answer = await upload(withQuery('/v1/pdf/documents', {mode: value(this.mode), page: value(this.page),
        quality: value(this.quality), tz: zone}), {body, requestId, signal: this.sending.signal,
        progress: share => bar(share, true)});
      this.over = true;
      await this.made?.();
      await this.done(answer.data);
    } catch (problem) {
      if (problem.name !== 'AbortError') this.fail(problem);
    } finally {
      this.sending = null;
      this.work.hidden = true;
      this.draw();
    }
  }

  /** Shows how far it is: the first half is the upload, the second the job, which events tell of. */
  progress(requestId) {
    const bar = h('progress', {max: 1, value: 0, 'aria-label': t('sending')});
    const said = h('span', {}, t('sending'));
    const show = (share, upward) => {
      bar.value = upward ? share / 2 : 0.5 + share / 2;
      replace(said, upward && share < 1 ? t('sending') : t('making'));
    };
    this.screen.on('job', event => event.id === requestId && show((event.percent ?? 0) / 100, false));
    this.work.hidden = false;
    replace(this.work, said, bar, button(t('cancel'), () => this.sending?.abort()));
    return show;
  }

  fail(problem) {
    if (!(problem instanceof Problem)) { showProblem(problem); return; }
    for (const error of problem.errors) {
      const entry = this.files[Number(/^\/files\/(\d+)/.exec(error.pointer ?? '')?.[1] ?? -1)];
      if (entry) entry.wrong = error.detail;
    }
    replace(this.problem, problem.retryable ? problemView(problem, () => this.send())
      : h('div', {class: 'form-problem'}, h('strong', {}, t('failed')),
        h('p', {lang: langOf(problem.words)}, problem.words)));
  }

  async done(data) {
    if (data.documents.length < 2) { await this.screen.go(`/pdf/${data.id}`, {replace: true}); return; }
    const saveAll = async () => {
      for (const made of data.documents) await call(`${made.href}/save`, {method: 'POST', body: {}});
      await this.screen.go('/pdf', {replace: true});
    };
    this.screen.show(h('div', {class: 'stack'}, h('h2', {}, t('made', data.documents.length)),
      h('ul', {class: 'rows', role: 'list'},
      data.documents.map(made => h('li', {class: 'row'}, icon('pdf'), h('div', {class: 'row-main'},
        h('a', {class: 'row-link', href: `/pdf/${made.id}`}, made.name))))),
    h('div', {class: 'bar'}, button(t('saveAll'), saveAll, {kind: 'primary', icon: 'check', write: true}),
      linkButton(t('open'), `/pdf/${data.id}`))));
  }
}

let count = 0;

function choice(label, options) {
  const id = `choice-${++count}`;
  return h('div', {class: 'field'}, h('label', {for: id}, label), h('select', {id, class: 'field-input'},
    Object.entries(options).map(([key, title]) => h('option', {value: key}, title))));
}

const value = choice => choice.querySelector('select').value;
