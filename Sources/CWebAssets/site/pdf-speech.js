// PDF: dictation, where the browser recognises speech; elsewhere the text is typed.

import {h, replace} from './dom.js';
import {define, language} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {
    begin: 'Dictate', end: 'Stop dictating', listens: 'Listening…', silence: 'Nothing was heard.',
    denied: 'The browser may not use the microphone. Its settings for this page can allow it.',
    deaf: 'No microphone was found.', service: 'The browser has no service here that understands speech. Please type.',
  },
  ru: {
    begin: 'Диктовать', end: 'Закончить диктовку', listens: 'Слушаю…', silence: 'Ничего не слышно.',
    denied: 'Браузеру нельзя пользоваться микрофоном. Это можно разрешить в его настройках для этой страницы.',
    deaf: 'Микрофон не найден.', service: 'Здесь у браузера нет службы, которая понимает речь. Наберите текст.',
  },
});

const reasons = {'not-allowed': 'denied', 'audio-capture': 'deaf', 'no-speech': 'silence'};
/** Milliseconds in which a service begins to listen. */
const patience = 8000;

/**
 * Makes the button that adds what is said to a text, and the line that shows what is heard, or why nothing is.
 * @param {HTMLTextAreaElement} input @param {AbortSignal} signal
 * @returns {Array<HTMLElement>} Nothing where the browser does not recognise speech.
 */
export function dictation(input, signal) {
  const Recognition = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition;
  if (!Recognition || !isSecureContext) return [];
  const recognition = Object.assign(new Recognition(), {continuous: true, interimResults: true,
    lang: language === 'ru' ? 'ru-RU' : 'en-US'});
  const said = h('p', {class: 'field-hint heard', role: 'status'});
  let on = false;
  let timer;
  const show = state => {
    on = state;
    clearTimeout(timer);
    replace(element.querySelector('span'), t(on ? 'end' : 'begin'));
  };
  const fail = reason => { replace(said, t(reason)); show(false); };
  const begin = () => {
    replace(said);
    show(true);
    timer = setTimeout(() => { recognition.abort(); fail('service'); }, patience);
    try { recognition.start(); } catch { fail('service'); }
  };
  const element = button(t('begin'), () => (on ? recognition.stop() : begin()), {icon: 'mic'});
  recognition.onaudiostart = () => { clearTimeout(timer); replace(said, t('listens')); };
  recognition.onresult = event => {
    const heard = [...event.results].slice(event.resultIndex);
    const space = () => (input.value && !/\s$/.test(input.value) ? ' ' : '');
    for (const result of heard) if (result.isFinal) input.value += space() + result[0].transcript.trim();
    replace(said, heard.filter(result => !result.isFinal).map(result => result[0].transcript).join('') || t('listens'));
    // What is said is typed, as for the field that asks before it is lost.
    input.dispatchEvent(new Event('input', {bubbles: true}));
  };
  recognition.onend = () => {
    if (on) replace(said);
    show(false);
  };
  // That it was aborted is no reason: the one for it is said already.
  recognition.onerror = ({error}) => error === 'aborted' || fail(reasons[error] ?? 'service');
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    recognition.onresult = null;
    recognition.abort();
  });
  return [element, said];
}
