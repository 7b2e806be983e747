// PDF: the reader. Pages are pictures that the server draws; each change names the version that it was made for.

import {call, ChangeQueue, newId, Problem, upload, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {askName, field, form} from './form.js';
import {icon} from './icons.js';
import {keyed} from './list.js';
import {attempt, dialog, menu, toast} from './overlay.js';
import {address, draftOf, forgetDrafts, keepDraft, pickFiles, whenDraftChanges} from './parts.js';
import {Pages} from './pdf-pages.js';
import {dictation} from './pdf-speech.js';
import {sortHandle} from './sort.js';
import {define, langOf, time} from './texts.js';
import {remove} from './trash.js';
import {button, linkButton, picture} from './ui.js';

const t = define({
  en: {
    document: 'Document', page: number => `Page ${number}`,
    rotate: number => `Rotate page ${number}`,
    drop: number => `Delete page ${number}`, closer: 'Larger', farther: 'Smaller',
    draft: until => `Draft, kept until ${until}`, arrange: 'Arrange pages',
    pick: number => `Select page ${number}`,
    text: 'Text', needText: 'Please type some text.', added: 'Text added', where: 'Place', end: 'At the end',
    before: number => `Before page ${number}`, add: 'Add', changed: 'It was changed elsewhere',
    changedText: 'Nothing was overwritten. The newest pages are shown now; please try again.',
    onDisk: 'Saved on the Disk', adding: 'Adding pages…', size: 'Size of the pages',
  },
  ru: {
    document: 'Документ', page: number => `Страница ${number}`,
    rotate: number => `Повернуть страницу ${number}`, drop: number => `Удалить страницу ${number}`,
    closer: 'Крупнее', farther: 'Мельче', draft: until => `Черновик, хранится до ${until}`,
    arrange: 'Упорядочить', pick: number => `Выбрать страницу ${number}`,
    text: 'Текст', needText: 'Введите текст.', added: 'Текст добавлен', where: 'Место', end: 'В конце',
    before: number => `Перед страницей ${number}`,
    add: 'Добавить', changed: 'Документ изменили в другом месте',
    changedText: 'Ничего не перезаписано. Показаны новые страницы; попробуйте ещё раз.',
    onDisk: 'Сохранено на Диске', adding: 'Добавляем страницы…', size: 'Размер страниц',
  },
});

const zooms = [0.5, 0.75, 1, 1.5, 2, 3];

/** Opens a document. */
export function openReader(screen) { new Reader(screen).open(); }

class Reader {
  constructor(screen) {
    Object.assign(this, {screen, document: null, zoom: 2, changes: new ChangeQueue()});
    this.leaves = h('ol', {class: 'leaves'});
    this.pages = new Pages(this, this.leaves);
    this.state = h('div', {});
    this.zoomed = h('output', {'aria-label': t('size')});
    this.arrange = button(t('arrange'), () => this.toggle(), {icon: 'grid'});
  }

  open() {
    const {screen} = this;
    screen.head({title: t('document'), back: '/pdf'});
    const zoomBy = step => { this.zoom = Math.max(0, Math.min(zooms.length - 1, this.zoom + step)); this.resize(); };
    this.zooms = h('div', {class: 'bar zoom'}, button(t('farther'), () => zoomBy(-1), {bare: true, icon: 'minus'}),
      this.zoomed, button(t('closer'), () => zoomBy(1), {bare: true, icon: 'plus'}));
    this.tools = h('div', {class: 'toolbar'}, this.arrange, this.zooms);
    screen.signal.addEventListener('abort', () => this.endSaid?.());
    this.resource = screen.load(`/v1/pdf/documents/${screen.params.id}`, ({data}) => this.draw(data),
      {skeleton: 'page', held: () => this.changes.busy});
  }

  draw(data) {
    this.document = data;
    if (!this.leaves.isConnected) this.begin();
    const draft = data.status === 'draft';
    const save = draft && this.action('save');
    replace(this.state, draft && h('div', {class: 'banner draft'},
      h('span', {class: 'grow'}, t('draft', time(data.draft_until))),
      save?.enabled && button(save.title, () => { this.save(save); }, {kind: 'primary', write: true})),
    data.notices?.map(notice => h('p', {class: 'field-hint', lang: langOf(notice.text)}, notice.text)));
    this.head(data, draft);
    this.redraw();
  }

  begin() {
    this.screen.show(this.state, this.tools, this.pages.bar, h('div', {class: 'reader'}, this.leaves));
    if (this.screen.query.get('view') === 'pages') this.toggle();
    const text = this.action('add-text');
    if (text?.enabled && draftOf(this.draftKey) && !document.querySelector('dialog[open]')) this.addText(text);
  }

  /** Draws the pages, without those that are being deleted. */
  redraw() {
    const {shown} = this.pages;
    this.resize();
    this.arrange.hidden = shown.length < 2 && !this.pages.on;
    keyed(this.leaves, shown.map((page, index) => ({...page, number: index + 1, all: shown.length})), page => page.id,
      page => this.leaf(page));
    this.pages.draw();
  }

  /** Shows the pages side by side to be arranged, or large to be read. */
  toggle() {
    this.pages.toggle();
    const {on} = this.pages;
    this.zooms.hidden = on;
    this.arrange.setAttribute('aria-pressed', String(on));
    replace(this.arrange, icon(on ? 'check' : 'grid'), h('span', null, t(on ? 'done' : 'arrange')));
    address(this.screen, {view: on ? 'pages' : null});
    this.resize();
  }

  action(id) { return this.document.actions.find(each => each.id === id); }

  head(data, draft) {
    const share = this.action('share');
    this.screen.head({title: data.name, back: '/pdf', actions: [
      share && linkButton(share.title, withQuery(share.href, {disposition: 'attachment'}), {icon: 'share',
        kind: draft ? 'wide-only' : 'compact', download: this.file}),
      button(t('moreActs'), event => this.acts(event.currentTarget), {bare: true, icon: 'more'})]});
  }

  acts(opener) {
    const runs = {
      'add-photos': ['image', action => this.addFiles(action)], 'add-text': ['text', action => this.addText(action)],
      rename: ['edit', action => askName(action.title, name => this.change(action.href, action.method, {name}),
        {value: this.document.name, maxlength: 200})],
      undo: ['rotate', action => this.change(action.href, action.method)],
      delete: ['trash', action => remove(action, t('docGone'), () => {
        forgetDrafts(this.draftKey);
        return this.screen.go('/pdf', {replace: true});
      })],
    };
    const items = Object.entries(runs).map(([id, [sign, run]]) => {
      const action = this.action(id);
      return action?.enabled && {title: action.title, icon: sign, kind: id === 'delete' ? 'danger' : '',
        run: () => run(action)};
    });
    const share = this.document.status === 'draft' && this.action('share');
    items.splice(3, 0, share && {title: share.title, icon: 'share', download: this.file,
      href: withQuery(share.href, {disposition: 'attachment'})},
    {title: t('toDisk'), icon: 'disk', run: () => this.toDisk()});
    menu(opener, t('moreActs'), items.filter(Boolean));
  }

  get file() { return `${this.document.name}.${this.document.extension}`; }

  match() { return {'If-Match': `"${this.document.version}"`}; }

  /**
   * Sends a change; after a lost race the newest pages are shown, and nothing is lost.
   * @param {string|function(): Array} href Address, or what gives address and options when its turn has come.
   */
  change(href, method, body) {
    const request = typeof href === 'function' ? href : () => [href, {method, body}];
    return this.sent(() => {
      const [to, options] = request();
      return call(to, {...options, headers: this.match()});
    });
  }

  async sent(send) {
    let answer = null;
    this.endSaid?.();
    try { answer = await this.changes.add(() => this.versioned(send)); } catch (problem) {
      if (problem.name !== 'AbortError') await this.resource.reload();
      if (problem.status !== 412) throw problem;
      throw new Problem({...problem, detail: t('changedText'), retryable: true, dialog: {title: t('changed'),
        message: t('changedText'), buttons: problem.dialog?.buttons ?? ['OK']}}, {status: 412});
    }
    if (!this.changes.busy) await this.resource.reload();
    return answer;
  }

  /** Sends a change; the one after it names the version that this one has made. */
  async versioned(send) {
    const answer = await send();
    if (answer.data?.id === this.document.id) this.document = answer.data;
    return answer;
  }

  /** Says that a change was made, with a way back until the next one, here or elsewhere. */
  say(text, {actions}) {
    if (this.changes.busy) return;
    const {enabled, title, href, method, headers} = actions.find(action => action.id === 'undo');
    const run = () => this.sent(() => call(href, {method, headers}));
    this.endSaid = toast(text, enabled ? {action: {title, run}} : {});
  }

  save(action) {
    return askName(action.title, async name => {
      await this.change(action.href, action.method, {name: name || null});
      toast(t('saved'));
    }, {value: this.document.name, maxlength: 200, check: null});
  }

  get width() { return this.pages.on ? 200 : Math.round(640 * zooms[this.zoom]); }

  resize() {
    this.leaves.style.setProperty('--leaf', `${this.width}px`);
    this.leaves.classList.toggle('fit', this.pages.on || zooms[this.zoom] <= 1);
    replace(this.zoomed, `${zooms[this.zoom] * 100} %`);
    for (const image of this.leaves.querySelectorAll('img[data-rotation]')) {
      const wanted = this.source(image.dataset.href, Number(image.dataset.rotation));
      if (image.getAttribute('src') !== wanted) image.src = wanted;
    }
  }

  /** Gives the address of a page's picture; a turned page has another width, and so another address. */
  source(href, rotation) {
    const shown = Math.min(this.width, Math.max(320, this.leaves.parentElement?.clientWidth || innerWidth));
    const wanted = this.pages.on || zooms[this.zoom] > 1 ? this.width : shown;
    const width = Math.min(1996, Math.ceil(wanted * (devicePixelRatio || 1) / 80) * 80);
    return withQuery(href, {width: width - rotation / 90});
  }

  leaf(page) {
    const {id, number, rotation, thumbnail_url: href} = page;
    const turned = rotation % 180 !== 0;
    const made = picture(this.source(href, rotation), `${this.document.name}, ${t('page', number)}`,
      {class: 'leaf-picture',
      sign: 'pdf'});
    const image = made.querySelector('img');
    Object.assign(image.dataset, {href, rotation});
    made.style.aspectRatio = turned ? `${page.height} / ${page.width}` : `${page.width} / ${page.height}`;
    const reorder = rows => this.pages.order(rows.map(row => row.rowKey));
    const act = (title, run, sign) => button(title, run, {bare: true, icon: sign, write: true});
    const leaf = h('li', {class: 'leaf-item'}, made, this.pages.box(id, t('pick', number)),
      h('span', {class: 'leaf-mark'}, icon('check', 18)), h('div', {class: 'leaf-bar'},
        h('span', {class: 'count', 'aria-hidden': 'true'}, t('page', number)),
        page.all > 1 && sortHandle(() => leaf, t('page', number), reorder),
        act(t('rotate', number), () => this.pages.turn([id], 90), 'turn'),
        page.all > 1 && act(t('drop', number), () => this.pages.drop([id]), 'trash')));
    return leaf;
  }

  /** Turns the picture of a page at once, before the server has. */
  lean(id, degrees) {
    const row = [...this.leaves.children].find(one => one.rowKey === id);
    const image = row?.querySelector('img');
    if (!image) return;
    const {width, height} = image.getBoundingClientRect();
    const scale = degrees % 180 ? Math.min(width / height, height / width) : 1;
    image.style.transform = `rotate(${degrees}deg) scale(${scale})`;
  }

  /** Adds pages of files; after an error they can be sent again without another choice. */
  addFiles(action) {
    pickFiles(files => attempt(() => this.append(action, files)), {accept: 'image/*,application/pdf,.heic,.avif'});
  }

  async append(action, files) {
    const body = new FormData();
    for (const file of files) body.append('files', file, file.name);
    const stop = new AbortController();
    const bar = h('progress', {max: 1, value: 0, 'aria-label': t('adding')});
    const work = h('div', {class: 'work', role: 'status'}, h('span', {}, t('adding')), bar,
      button(t('cancel'), () => stop.abort()));
    this.tools.before(work);
    this.screen.signal.addEventListener('abort', () => stop.abort(), {signal: stop.signal});
    try {
      await this.sent(() => upload(action.href, {method: action.method, body, requestId: newId(),
        headers: this.match(), signal: stop.signal, progress: share => { bar.value = share; }}));
    } finally { work.remove(); }
  }

  get draftKey() { return `pdf.${this.document.id}`; }

  /** Asks for a text that becomes pages; what is typed is kept until it is added or discarded. */
  async addText(action) {
    const count = this.document.page_count;
    const ended = new AbortController();
    const signal = AbortSignal.any([this.screen.signal, ended.signal]);
    const added = await dialog(action.title, close => {
      const text = field('text', t('text'), {tag: 'textarea', rows: 8, autofocus: true, dir: 'auto',
        check: value => (value.trim() ? null : t('needText'))});
      const places = Array.from({length: count}, (_, index) => ({value: String(index + 1),
        title: t('before', index + 1)}));
      const at = field('at', t('where'), {tag: 'select', value: '',
        options: [{value: '', title: t('end')}, ...places]});
      text.input.addEventListener('input', () => {
        text.toggleAttribute('data-stored', keepDraft(this.draftKey, text.input.value || null));
      });
      text.input.value = draftOf(this.draftKey) ?? '';
      whenDraftChanges(this.draftKey, () => text.removeAttribute('data-stored'), signal);
      text.input.dispatchEvent(new Event('input'));
      return [form([text, at], t('add'), async values => {
        const {data} = await this.change(action.href, action.method, {text: values.text,
          ...(values.at && {at: Number(values.at)})});
        close([Number(values.at) || count + 1, data]);
      }, {extra: dictation(text.input, signal)})];
    }, {wide: true});
    ended.abort();
    keepDraft(this.draftKey, null);
    if (!added) return;
    this.leaves.children[added[0] - 1]?.scrollIntoView();
    this.say(t('added'), added[1]);
  }

  async toDisk() {
    const {chooseFolder} = await import('./disk-acts.js');
    const folder = await chooseFolder(t('toDisk'), t('saveHere'));
    if (!folder) return;
    const {name, extension, href} = this.document;
    const path = `${folder.replace(/\/$/, '')}/${name.replaceAll('/', '-')}.${extension}`;
    await call(`${href}/save-to-disk`, {method: 'POST', body: {path}});
    toast(t('onDisk'));
  }
}
