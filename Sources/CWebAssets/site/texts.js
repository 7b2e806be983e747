// Language of the page, and the core's own strings. An app defines its strings in its own module, by `define`.

const stored = localStorage.getItem('larder.language');
const supported = ['en', 'ru'];

/** The language of the page: the user's choice, else the first that the browser prefers of those there are. */
export const language = supported.includes(stored) ? stored
  : navigator.languages.map(tag => tag.slice(0, 2)).find(tag => supported.includes(tag)) ?? 'en';

/** The user's choice of language, or `auto`. */
export const languageChoice = supported.includes(stored) ? stored : 'auto';

/** Stores the choice of language (`en`, `ru` or `auto`) and draws the page anew in it. */
export function chooseLanguage(choice) {
  if (choice === 'auto') localStorage.removeItem('larder.language');
  else localStorage.setItem('larder.language', choice);
  location.reload();
}

/**
 * Makes the function that gives the strings of a module; those of the core are there, too.
 * @param {{en: Object, ru: Object}} texts A string, or a function of the values that makes one, by key and language.
 * @returns {function(string, ...*): string}
 */
export function define(texts) {
  const own = {...en, ...texts.en, ...(language === 'ru' && ru), ...texts[language]};
  return (key, ...values) => (typeof own[key] === 'function' ? own[key](...values) : own[key] ?? key);
}

/** Gives the language of a text where it is not that of the page, for `lang` attributes. */
export function langOf(text) {
  const found = /[А-Яа-яЁё]/.test(text ?? '') ? 'ru' : /[A-Za-z]/.test(text ?? '') ? 'en' : language;
  return found === language ? null : found;
}

/** Chooses the form of a counted noun, as in `plural(3, {one: 'ship', other: 'ships'})`. */
export function plural(count, forms) {
  return forms[new Intl.PluralRules(language).select(count)] ?? forms.other;
}

/** The browser's form of the language, such as en-GB. */
const locale = navigator.languages.find(tag => tag.slice(0, 2) === language) ?? language;

/** Formats a time of the server (RFC 3339) in the browser's zone. */
export function time(text, options = {dateStyle: 'medium', timeStyle: 'short'}) {
  return text ? new Intl.DateTimeFormat(locale, options).format(new Date(text)).replace(/\sг\./, '') : '–';
}

/** Formats an age in seconds: "just now", "4 minutes ago". */
export function ago(seconds) {
  const units = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];
  if (seconds < 5) return t('now');
  const [unit, size] = units.find(([, size]) => seconds >= size);
  return new Intl.RelativeTimeFormat(language).format(-Math.floor(seconds / size), unit);
}

/** Formats a number of bytes. */
export function bytes(count) {
  const units = language === 'ru' ? ['Б', 'КБ', 'МБ', 'ГБ', 'ТБ'] : ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = count < 1 ? 0 : Math.min(4, Math.floor(Math.log(count) / Math.log(1024)));
  const digits = {maximumFractionDigits: power > 1 ? 1 : 0};
  return `${new Intl.NumberFormat(language, digits).format(count / 1024 ** power)} ${units[power]}`;
}

/** The browser's time zone, for `tz` parameters. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';

const en = {
  now: 'just now', skip: 'Skip to content', apps: 'Apps', menu: 'Menu', home: 'Home', back: 'Back', close: 'Close',
  disk: 'Disk', shop: 'Shop', pdf: 'PDF', ships: 'Ships', notes: 'Notes', status: 'Control room',
  ok: 'OK', cancel: 'Cancel', retry: 'Try again', refresh: 'Refresh', loadMore: 'Load more',
  loading: 'Loading…', done: 'Done', working: 'Working…', error: 'Something went wrong',
  retryIn: n => `Try again in ${n} s`, toLogin: 'Log in', startPage: 'To the start page',
  live: 'Live', fresh: 'Fresh copy', stale: 'Stale copy', offline: 'Offline copy', local: 'Local',
  bundled: 'Bundled copy', partial: 'partial', received: 'Received',
  confirmedAt: 'Last confirmed',
  liveWhy: 'The remote API answered for this.',
  freshWhy: 'Larder’s copy is fresh, so the remote API was not asked.',
  localWhy: 'Larder keeps this itself, without a remote API.',
  bundledWhy: 'The remote API has never answered; this came with the program.',
  partialWhy: 'Only a part could be searched or shown.',
  howOld: 'Where this comes from',
  lost: 'Larder does not answer',
  lostText: 'What is shown stays. You can change things again when it is back.',
  lostWrite: 'Nothing was changed; what you typed is still here.',
  brokenWrite: 'The connection broke. What you typed is still here; look whether it was done.',
  lostTitle: 'Larder cannot be reached', lostMessage: 'The server may be stopped. This page comes back by itself.',
  back2: 'Larder is back', notFound: 'There is no such page',
  notFoundText: 'A typo?',
  rows: (n, total) => (total === null ? `${n} shown` : `${n} of ${total} shown`),
  theme: 'Appearance', light: 'Light', dark: 'Dark', auto: 'As the system',
  language: 'Language', langAuto: 'As the browser',
  keys: 'Keyboard', install: 'Install Larder',
  copied: 'Copied', copyThis: 'Copy this text',
  kAll: 'Search everything', search: 'Search', kGo: 'Go to', undo: 'Undo',
  sourceUp: 'Responds', sourceErrors: 'Responds with errors', sourceDown: 'Offline', sourceUnknown: 'Not asked yet',
  allUp: 'Sources respond', someUp: n => `${n} ${plural(n, {one: 'source responds', other: 'sources respond'})}`,
  someDown: n => `${n} ${plural(n, {one: 'source', other: 'sources'})} offline`,
  someErrors: n => `${n} ${plural(n, {one: 'source responds', other: 'sources respond'})} with errors`,
  noneAsked: 'No source was asked yet', lose: 'Discard the text?', loseText: 'What you typed here is not saved.',
  discard: 'Discard', goOn: 'Go on editing',
  outbox: 'Outbox', waits: n => `${n} ${plural(n, {one: 'change waits', other: 'changes wait'})}`,
  name: 'Name', nothing: 'Nothing found', download: 'Download', copy: 'Copy', move: 'Move', open: 'Open',
  trash: 'Trash', profile: 'Profile', map: 'Map', people: 'People', all: 'All', size: 'Size', newNote: 'New note',
  newDocument: 'New document', remove: 'Delete', documents: 'Documents', toDisk: 'Save to the Disk',
  saveHere: 'Save here', curl: 'Copy as curl', needName: 'Please type a name.',
  acts: name => `Actions for ${name}`, moreActs: 'More actions',
  details: 'Details', cart: 'Shopping list',
  docGone: 'Document deleted', saved: 'Saved', replace: 'Replace', changed: 'Changed', zoomIn: 'Zoom in',
  testTime: 'Test time', keptOffline: 'Kept offline', favourites: 'Favourites',
  isPublic: 'Published', previous: 'Previous picture', next: 'Next picture',
  unreadable: 'The answer could not be read.', sessionEnded: 'You were logged out. Please log in again.',
};

const ru = {
  now: 'только что', skip: 'К содержанию', apps: 'Приложения', menu: 'Меню', home: 'Главная',
  back: 'Назад', close: 'Закрыть',
  disk: 'Диск', shop: 'Магазин', pdf: 'PDF', ships: 'Корабли', notes: 'Заметки', status: 'Пульт',
  ok: 'ОК', cancel: 'Отмена', retry: 'Повторить', refresh: 'Обновить', loadMore: 'Показать ещё',
  loading: 'Загрузка…', done: 'Готово', working: 'Выполняется…', error: 'Что-то пошло не так',
  retryIn: n => `Повторить через ${n} с`, toLogin: 'Войти', startPage: 'На главную',
  live: 'Из сети', fresh: 'Свежая копия', stale: 'Старая копия', offline: 'Копия без сети', local: 'У Larder',
  bundled: 'Копия из поставки', partial: 'не всё', received: 'Получено',
  confirmedAt: 'Подтверждено', liveWhy: 'Удалённый сервис ответил.',
  freshWhy: 'Копия ещё свежая, поэтому удалённый сервис не спрашивали.',
  localWhy: 'Это хранит сам Larder, без удалённых сервисов.',
  bundledWhy: 'Удалённый сервис ещё ни разу не ответил; это — из поставки.',
  partialWhy: 'Просмотрена или показана только часть.',
  howOld: 'Откуда эти данные',
  lost: 'Larder не отвечает', lostText: 'Показанное остаётся. Менять снова можно, когда он вернётся.',
  lostWrite: 'Ничего не изменено; введённое осталось на месте.',
  brokenWrite: 'Связь прервалась. Введённое осталось; посмотрите, не сделано ли это.',
  lostTitle: 'Larder недоступен', lostMessage: 'Возможно, сервер остановлен. Страница вернётся сама.',
  back2: 'Larder снова отвечает', notFound: 'Такой страницы нет',
  notFoundText: 'Опечатка?',
  rows: (n, total) => (total === null ? `показано ${n}` : `показано ${n} из ${total}`),
  theme: 'Оформление', light: 'Светлое', dark: 'Тёмное', auto: 'Как в системе',
  language: 'Язык', langAuto: 'Как в браузере',
  keys: 'Клавиши', install: 'Установить Larder', copied: 'Скопировано',
  copyThis: 'Скопируйте этот текст',
  kAll: 'Поиск по всему', search: 'Поиск', kGo: 'Перейти', undo: 'Вернуть',
  sourceUp: 'Отвечает', sourceErrors: 'Отвечает ошибками', sourceDown: 'Без связи', sourceUnknown: 'Нет данных',
  allUp: 'Источники отвечают',
  someUp: n => `Отвечает ${n} ${plural(n, {one: 'источник', few: 'источника', other: 'источников'})}`,
  someErrors: n => `С ошибками: ${n} ${plural(n, {one: 'источник', few: 'источника', other: 'источников'})}`,
  noneAsked: 'Источники ещё не спрашивали', lose: 'Не сохранять текст?',
  loseText: 'То, что вы здесь написали, не сохранено.', discard: 'Не сохранять', goOn: 'Продолжить правку',
  unreadable: 'Ответ не удалось прочитать.',
  someDown: n => `${n} ${plural(n, {one: 'источник', few: 'источника', other: 'источников'})} без связи`,
  outbox: 'Исходящие', name: 'Имя', nothing: 'Ничего не найдено', download: 'Скачать', copy: 'Копировать',
  move: 'Переместить', open: 'Открыть', trash: 'Корзина', profile: 'Профиль', map: 'Карта', people: 'Люди', all: 'Все',
  size: 'Размер', newNote: 'Новая заметка', newDocument: 'Новый документ', remove: 'Удалить', documents: 'Документы',
  toDisk: 'Сохранить на Диск', saveHere: 'Сохранить сюда', curl: 'Скопировать для curl',
  needName: 'Введите имя.', acts: name => `Действия: ${name}`,
  moreActs: 'Другие действия', favourites: 'Избранное',
  details: 'Подробности', cart: 'Список покупок', docGone: 'Документ удалён', saved: 'Сохранено',
  replace: 'Заменить', changed: 'Изменён', zoomIn: 'Приблизить', testTime: 'Время стенда',
  keptOffline: 'Доступно офлайн', isPublic: 'Опубликовано', previous: 'Предыдущая', next: 'Следующая',
  waits: n => `${n} ${plural(n, {one: 'изменение ждёт', few: 'изменения ждут', other: 'изменений ждут'})}`,
  sessionEnded: 'Сеанс завершён. Войдите снова.',
};

/** The strings of the core. */
export const t = define({en, ru});
