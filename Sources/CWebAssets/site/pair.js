// Asks for the code that pairs this browser with the server, which gives it nothing else before.

const [lang, text] = navigator.languages.find(tag => /^(en|ru)\b/.test(tag))?.startsWith('ru') ? ['ru', {
  title: 'Подключить устройство', lead: 'Введите код, который показывает сервер: его печатает команда larder pair.',
  code: 'Код', name: 'Имя устройства', pair: 'Подключить', offline: 'Сервер не отвечает. Попробуйте ещё раз.',
}] : ['en', {
  title: 'Pair this device', lead: 'Enter the code that the server shows: the command larder pair prints one.',
  code: 'Code', name: 'Name of this device', pair: 'Pair', offline: 'The server does not respond. Try again.',
}];

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Leaves for the page that was asked for. */
function proceed() {
  sessionStorage.setItem('larder.paired', String(Date.now()));
  location.replace(location.pathname === '/pair' ? '/' : location.href.split('#')[0]);
}

/** Sends the code; returns what is wrong with it. */
async function send(code, name) {
  try {
    const response = await fetch('/v1/pairing', {method: 'POST', body: JSON.stringify({code, name}),
      headers: {'Content-Type': 'application/json', 'Larder-Session': 'cookie', 'Accept-Language': lang}});
    return response.ok ? null : (await response.json()).dialog.message;
  } catch { return text.offline; }
}

function show() {
  const code = h('input', {required: '', autocomplete: 'one-time-code', autocapitalize: 'characters', maxlength: 16,
    value: location.pathname === '/pair' ? location.hash.slice(1) : ''});
  const name = h('input', {required: '', maxlength: 64, autocomplete: 'off', value:
    /iPad|iPhone|Android|Mac OS|Windows|Linux/.exec(navigator.userAgent)?.[0] ?? ''});
  const button = h('button', {}, text.pair);
  const alert = h('p', {role: 'alert'});
  const form = h('form', {}, h('label', {}, text.code, code), h('label', {}, text.name, name), button, alert);
  form.addEventListener('submit', async event => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    alert.textContent = '';
    const fault = await send(code.value, name.value);
    if (fault === null) return proceed();
    alert.textContent = fault;
    button.disabled = false;
    code.select();
  });
  document.documentElement.lang = lang;
  document.title = `${text.title} – Larder`;
  document.body.replaceChildren(h('main', {}, h('h1', {}, text.title), h('p', {}, text.lead), form));
  (code.value ? button : code).focus();
}

/** Whether this browser is paired: after a link of another site it sends its cookie only when a page asks. */
const isPaired = async () => {
  try { return (await fetch('/v1/devices', {cache: 'no-store'})).ok; } catch { return false; }
};

// A browser that has just left this page and is here again keeps no cookies.
if (Math.abs(Date.now() - Number(sessionStorage.getItem('larder.paired'))) > 10_000 && await isPaired()) proceed();
else show();
