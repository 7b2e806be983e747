// PDF: dictation, where the browser recognises speech; elsewhere the text is typed.

import {replace} from './dom.js';
import {define, language} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {begin: 'Dictate', end: 'Stop dictating'},
  ru: {begin: 'Диктовать', end: 'Закончить диктовку'},
});

/**
 * Makes the button that adds what is said to a text.
 * @param {HTMLTextAreaElement} input @param {AbortSignal} signal
 * @returns {?HTMLButtonElement} Null where the browser does not recognise speech.
 */
export function dictation(input, signal) {
  const Recognition = globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition;
  if (!Recognition || !isSecureContext) return null;
  const recognition = Object.assign(new Recognition(), {continuous: true, lang: language === 'ru' ? 'ru-RU' : 'en-US'});
  let on = false;
  const show = state => {
    on = state;
    replace(element.querySelector('span'), t(on ? 'end' : 'begin'));
    element.setAttribute('aria-pressed', String(on));
  };
  const element = button(t('begin'), () => (on ? recognition.stop() : (recognition.start(), show(true))),
    {icon: 'text'});
  recognition.onresult = event => {
    for (const result of [...event.results].slice(event.resultIndex)) {
      const space = input.value && !/\s$/.test(input.value) ? ' ' : '';
      if (result.isFinal) input.value += space + result[0].transcript.trim();
    }
    // What is said is typed, as for the field that asks before it is lost.
    input.dispatchEvent(new Event('input', {bubbles: true}));
  };
  recognition.onend = () => show(false);
  recognition.onerror = () => show(false);
  signal.addEventListener('abort', () => recognition.abort());
  return element;
}
