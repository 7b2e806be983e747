// Control room: the devices that are paired with the server, and codes for others.

import {call, quietly} from './api.js';
import {h, replace} from './dom.js';
import {field, form} from './form.js';
import {keyed} from './list.js';
import {ask, dialog} from './overlay.js';
import {ago, define, time} from './texts.js';
import {button} from './ui.js';

const t = define({
  en: {devices: 'Devices',
    how: (url, until) => `Open ${url} on the device and enter this code. It is good once, until ${until}.`},
  ru: {devices: 'Устройства',
    how: (url, until) => `Откройте на устройстве ${url} и введите этот код. Он действует один раз, до ${until}.`},
});

/**
 * Shows the devices of a server that asks for them; nothing otherwise.
 * @param {Screen} screen
 * @param {HTMLElement} place
 */
export async function openDevices(screen, place) {
  const list = h('ul', {class: 'list card', role: 'list'});
  const buttons = h('div', {class: 'toolbar'});
  const draw = async () => {
    const answer = await read();
    if (screen.signal.aborted) return;
    if (answer?.data.access !== 'pairing') return void replace(place);
    const {devices, actions} = answer.data;
    keyed(list, devices, device => device.id, device => row(device, draw), {animate: false});
    replace(buttons, actions.map(action => button(action.title, () => pair(action), {write: true})));
    list.hidden = devices.length === 0;
    if (!place.childElementCount) {
      replace(place, h('section', {class: 'stack devices'}, h('h2', null, t('devices')), list, buttons));
    }
  };
  screen.on('devices-changed', draw);
  await draw();
}

/** Reads the list; nothing if this client may not see it. */
const read = () => quietly(call('/v1/devices'));

function row(device, again) {
  return h('li', {class: 'row', dataset: {device: device.id}},
    h('div', {class: 'row-main'}, h('span', {class: 'row-name', dir: 'auto'}, device.name),
      h('span', {class: 'row-sub'}, [device.profile,
        ago((Date.now() - Date.parse(device.last_seen_at)) / 1000)].join(' · '))),
    h('div', {class: 'row-end'}, device.actions.map(action => button(action.title, () => act(action, again),
      {icon: action.fields ? 'edit' : 'close', kind: 'compact', write: true}))));
}

async function act(action, again) {
  if (action.fields) return rename(action, again);
  if (action.confirm && !await ask(action.confirm)) return;
  await call(action.href, {method: action.method});
  await again();
}

function rename(action, again) {
  const name = field('name', t('name'), {value: action.fields[0].value, maxlength: 64, autofocus: true});
  dialog(action.title, close => form([name], action.title, async body => {
    await call(action.href, {method: action.method, body});
    close();
    await again();
  }));
}

function pair(action) {
  const place = h('div', {class: 'stack'}, form([field('profile', t('profile'), {value: action.fields[0].value})],
    action.title, async body => {
      const {data} = await call(action.href, {method: action.method, body});
      replace(place, h('p', null, t('how', data.url ?? '/pair', time(data.expires_at, {timeStyle: 'short'}))),
        h('p', {class: 'pairing-code', role: 'status'}, data.code),
        data.qr && h('img', {src: data.qr, alt: 'QR', width: 240}));
    }));
  dialog(action.title, place);
}
