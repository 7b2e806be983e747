// PDF: what the list and the reader do to a document.

import {call} from './api.js';
import {field, form} from './form.js';
import {ask, dialog} from './overlay.js';
import {forgetDrafts} from './parts.js';
import {define} from './texts.js';
import {sayDeleted} from './trash.js';

const t = define({
  en: {gone: 'Document deleted'},
  ru: {gone: 'Документ удалён'},
});

/** Asks for another name of a document; `send` gets the body of the request. */
export function rename(value, action, send) {
  return dialog(action.title, close => {
    const name = field('name', t('name'), {value, autofocus: true, autocomplete: 'off', maxlength: 200,
      check: text => (text.trim() ? null : t('needName'))});
    return [form([name], action.title, async values => {
      await send({name: values.name.trim()});
      close(true);
    })];
  });
}

/** Asks in the server's words, and deletes a document. */
export async function remove(action, done) {
  if (!await ask(action.confirm)) return;
  const answer = await call(action.href, {method: action.method});
  forgetDrafts(`pdf.${action.href.split('/').at(-1)}`);
  await done();
  sayDeleted(t('gone'), answer, done);
}
