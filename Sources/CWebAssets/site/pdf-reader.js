// PDF: the reader. Pages are pictures that the server draws; each change names the version that it was made for.

import {call, ChangeQueue, newId, Problem, upload, withQuery} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {icon} from './icons.js';
import {keyed} from './list.js';
import {ask, attempt, dialog, menu, toast} from './overlay.js';
import {pickFiles} from './parts.js';
import {remove, rename} from './pdf.js';
import {dictation} from './pdf-speech.js';
import {sortHandle} from './sort.js';
import {define, langOf, plural, time} from './texts.js';
import {button, linkButton, picture} from './ui.js';

const t = define({
  en: {
    document: 'Document', more: 'More actions', page: number => `Page ${number}`,
    rotate: number => `Rotate page ${number}`,
    drop: number => `Delete page ${number}`, sure: number => `Delete page ${number}?`,
    sureText: 'There is no way back.',
    delete: 'Delete', keep: 'Keep', closer: 'Larger', farther: 'Smaller',
    draft: until => `Draft: it is deleted on ${until} `
    + 'unless you save it.', saved: 'Saved', select: 'Select pages', done: 'Done', extract: 'Make a document of them',
    chosen: count => `${count} ${plural(count, {one: 'page', other: 'pages'})} selected`,
    pick: number => `Select page ${number}`,
    name: 'Name', text: 'Text', needText: 'Please type some text.', where: 'Place', end: 'At the end',
    before: number => `Before page ${number}`, add: 'Add', changed: 'It was changed elsewhere',
    changedText: 'Nothing was overwritten. The newest pages are shown now; please try again.',
    toDisk: 'Save to the Disk',
      saveHere: 'Save here',
    onDisk: 'Saved on the Disk', adding: 'Adding pages…', cancel: 'Cancel', size: 'Size of the pages',
  },
  ru: {
    document: 'Документ', more: 'Другие действия', page: number => `Страница ${number}`,
    rotate: number => `Повернуть страницу ${number}`, drop: number => `Удалить страницу ${number}`,
    sure: number => `Удалить страницу ${number}?`, sureText: 'Вернуть её будет нельзя.', delete: 'Удалить',
    keep: 'Оставить',
    closer: 'Крупнее', farther: 'Мельче', draft: until => `Черновик: будет удалён ${until}, если не сохранить.`,
    saved: 'Сохранено', select: 'Выбрать страницы', done: 'Готово', extract: 'Сделать из них документ',
    chosen: count => `Выбрано страниц: ${count}`, pick: number => `Выбрать страницу ${number}`, name: 'Имя',
    text: 'Текст',
    needText: 'Введите текст.', where: 'Место', end: 'В конце', before: number => `Перед страницей ${number}`,
    add: 'Добавить', changed: 'Документ изменили в другом месте',
    changedText: 'Ничего не перезаписано. Показаны новые страницы; попробуйте ещё раз.', toDisk: 'Сохранить на Диск',
    saveHere: 'Сохранить сюда',
    onDisk: 'Сохранено на Диске', adding: 'Добавляем страницы…', cancel: 'Отмена', size: 'Размер страниц',
  },
});

const zooms = [0.5, 0.75, 1, 1.5, 2, 3];

/** Opens a document. */
export function openReader(screen) { new Reader(screen).open(); }

class Reader {
  constructor(screen) {
    Object.assign(this, {screen, document: null, zoom: 2, chosen: [], changes: new ChangeQueue()});
    this.pages = h('ol', {class: 'leaves'});
    this.state = h('div', {});
    this.zoomed = h('output', {'aria-label': t('size')});
    this.select = button(t('select'), () => this.toggle(), {icon: 'check', kind: 'compact'});
    this.selected = h('div', {class: 'selection', hidden: true});
  }

  open() {
    const {screen} = this;
    screen.head({title: t('document'), back: '/pdf'});
    const zoomBy = step => { this.zoom = Math.max(0, Math.min(zooms.length - 1, this.zoom + step)); this.resize(); };
    this.tools = h('div', {class: 'toolbar'}, this.select, h('div', {class: 'bar zoom'},
      button(t('farther'), () => zoomBy(-1), {bare: true, icon: 'minus'}), this.zoomed,
      button(t('closer'), () => zoomBy(1), {bare: true, icon: 'plus'})));
    this.resource = screen.load(`/v1/pdf/documents/${screen.params.id}`, ({data}) => this.draw(data),
      {skeleton: 'page', held: () => this.changes.busy});
  }

  draw(data) {
    this.document = data;
    this.chosen = this.chosen.filter(id => data.pages.some(page => page.id === id));
    if (!this.pages.isConnected) this.screen.show(this.state, this.tools, this.selected,
      h('div', {class: 'reader'}, this.pages));
    const draft = data.status === 'draft';
    replace(this.state, draft && data.draft_until && h('p', {class: 'banner draft'}, icon('clock'),
      h('span', {}, t('draft', time(data.draft_until)))),
    data.notices?.map(notice => h('p', {class: 'field-hint', lang: langOf(notice.text)}, notice.text)));
    this.head(data, draft);
    this.resize();
    keyed(this.pages, data.pages.map(page => ({...page, all: data.page_count})), page => page.id,
      page => this.leaf(page));
    this.drawSelected();
  }

  action(id) { return this.document.actions.find(each => each.id === id); }

  head(data, draft) {
    const [save, share] = [this.action('save'), this.action('share')];
    this.screen.head({title: data.name, back: '/pdf', actions: [
      draft && save?.enabled && button(save.title, () => { this.save(save); },
        {kind: 'primary', icon: 'check', write: true}),
      share && linkButton(share.title, withQuery(share.href, {disposition: 'attachment'}), {icon: 'share',
        download: `${data.name}.${data.extension}`}),
      this.screen.refreshButton(() => this.resource),
      button(t('more'), event => this.acts(event.currentTarget), {bare: true, icon: 'more'})]});
  }

  acts(opener) {
    const runs = {
      'add-photos': ['image', action => this.addFiles(action)], 'add-text': ['text', action => this.addText(action)],
      rename: ['edit', action => rename(this.document.name, action, body => this.change(action.href, action.method,
        body))],
      delete: ['trash', action => remove(action, () => this.screen.go('/pdf', {replace: true}))],
    };
    const items = Object.entries(runs).map(([id, [sign, run]]) => {
      const action = this.action(id);
      return action?.enabled && {title: action.title, icon: sign, kind: id === 'delete' ? 'danger' : '',
        run: () => run(action)};
    });
    items.splice(3, 0, {title: t('toDisk'), icon: 'disk', run: () => this.toDisk()});
    menu(opener, t('more'), items.filter(Boolean));
  }

  match() { return {'If-Match': `"${this.document.version}"`}; }

  /** Sends a change; after a lost race the newest pages are shown, and nothing is lost. */
  change(href, method, body) {
    return this.sent(() => call(href, {method, body, headers: this.match()}));
  }

  async sent(send) {
    let answer = null;
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

  save(action) {
    return dialog(action.title, close => {
      const name = field('name', t('name'), {value: this.document.name, autofocus: true, maxlength: 200,
        autocomplete: 'off'});
      return [form([name], action.title, async values => {
        await this.change(action.href, action.method, {name: values.name.trim() || null});
        close(true);
        toast(t('saved'));
      })];
    });
  }

  get width() { return Math.round(640 * zooms[this.zoom]); }

  resize() {
    this.pages.style.setProperty('--leaf', `${this.width}px`);
    this.pages.classList.toggle('fit', zooms[this.zoom] <= 1);
    replace(this.zoomed, `${zooms[this.zoom] * 100} %`);
    for (const image of this.pages.querySelectorAll('img[data-rotation]')) {
      const wanted = this.source(image.dataset.href, Number(image.dataset.rotation));
      if (image.getAttribute('src') !== wanted) image.src = wanted;
    }
  }

  /** Gives the address of a page's picture; a turned page has another width, and so another address. */
  source(href, rotation) {
    const shown = Math.min(this.width, Math.max(320, this.pages.parentElement?.clientWidth || innerWidth));
    const wanted = zooms[this.zoom] > 1 ? this.width : shown;
    const width = Math.min(1996, Math.ceil(wanted * (devicePixelRatio || 1) / 80) * 80);
    return withQuery(href, {width: width - rotation / 90});
  }

  leaf(page) {
    const {id, number, rotation, thumbnail_url: href} = page;
    const own = `${this.document.href}/pages/${id}`;
    const turned = rotation % 180 !== 0;
    const made = picture(this.source(href, rotation), `${this.document.name}, ${t('page', number)}`,
      {class: 'leaf-picture',
      sign: 'pdf'});
    const image = made.querySelector('img');
    Object.assign(image.dataset, {href, rotation});
    made.style.aspectRatio = turned ? `${page.height} / ${page.width}` : `${page.width} / ${page.height}`;
    const reorder = rows => {
      const order = rows.map(row => row.rowKey);
      return attempt(() => this.change(`${this.document.href}/pages/order`, 'PUT', {pages: order}));
    };
    const act = (title, run, sign) => button(title, run, {bare: true, icon: sign, write: true});
    const leaf = h('li', {class: 'leaf-item'}, made, h('div', {class: 'leaf-bar'},
      h('input', {type: 'checkbox', class: 'row-check', 'aria-label': t('pick', number),
        checked: this.chosen.includes(id),
        onchange: event => this.choose(id, event.target.checked)}),
      h('span', {class: 'count', 'aria-hidden': 'true'}, t('page', number)),
      page.all > 1 && sortHandle(() => leaf, t('page', number), reorder),
      act(t('rotate', number), () => this.change(own, 'PATCH', {rotate_by: 90}), 'rotate'),
      act(t('drop', number), () => this.drop(own, number), 'trash')));
    return leaf;
  }

  async drop(href, number) {
    const sure = await ask({title: t('sure', number), message: t('sureText'), buttons: [t('delete'), t('keep')]});
    if (sure) await this.change(href, 'DELETE');
  }

  toggle() {
    const on = this.screen.root.classList.toggle('selecting');
    this.chosen = [];
    replace(this.select.querySelector('span'), on ? t('done') : t('select'));
    this.select.setAttribute('aria-pressed', String(on));
    for (const box of this.pages.querySelectorAll('.row-check')) box.checked = false;
    this.drawSelected();
  }

  choose(id, on) {
    this.chosen = this.chosen.filter(other => other !== id);
    if (on) this.chosen.push(id);
    this.drawSelected();
  }

  drawSelected() {
    this.selected.hidden = this.chosen.length === 0;
    if (this.chosen.length) {
      replace(this.selected, h('span', {role: 'status'}, t('chosen', this.chosen.length)),
        button(t('extract'), () => { this.extract(); }, {icon: 'pdf', kind: 'primary', write: true}));
    }
  }

  /** Makes a document of the chosen pages, in the order in which they were chosen. */
  extract() {
    const action = this.action('extract');
    return dialog(action.title, close => {
      const name = field('name', t('name'), {autofocus: true, maxlength: 200, autocomplete: 'off'});
      return [form([name], action.title, async values => {
        const {data} = await this.change(action.href, action.method, {pages: this.chosen,
          name: values.name.trim() || null});
        close(true);
        await this.screen.go(`/pdf/${data.id}`);
      })];
    });
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

  addText(action) {
    const count = this.document.page_count;
    return dialog(action.title, close => {
      const text = field('text', t('text'), {tag: 'textarea', rows: 8, autofocus: true, dir: 'auto',
        check: value => (value.trim() ? null : t('needText'))});
      const places = Array.from({length: count}, (_, index) => ({value: String(index + 1),
        title: t('before', index + 1)}));
      const at = field('at', t('where'), {tag: 'select', value: '',
        options: [{value: '', title: t('end')}, ...places]});
      const speech = dictation(text.input, this.screen.signal);
      return [form([text, at], t('add'), async values => {
        await this.change(action.href, action.method, {text: values.text, ...(values.at && {at: Number(values.at)})});
        close(true);
      }, {extra: speech ? [speech] : []})];
    }, {wide: true});
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
