/**
 * Larder as the backend of integration tests, for Node 18 or newer and its test runner. No dependencies.
 *
 *     const larder = await Larder.start();
 *     const space = await larder.space();
 *     await space.upstream('spacex').fault('offline');
 */
import {AssertionError} from 'node:assert';
import {spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdtemp, open, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const PATIENCE_MS = 60_000;
// A package of script/release has the program inside.
const INSIDE = fileURLToPath(new URL('program/larder', import.meta.url));

/**
 * @typedef {{status: number, headers: Headers, bytes: Uint8Array, text: string, json: any, data: any, meta: any,
 *   code: ?string, cache: string}} Answer `data` and `meta` are those of a screen, `code` is that of a problem, `cache`
 *   is `Cache-Status`.
 * @typedef {{json?: any, body?: any, headers?: Record<string, string>, query?: Record<string, any>,
 *   timeoutMs?: number}} Options A request ends after 60 s, or `timeoutMs`.
 * @typedef {{route?: string, method?: string, path?: string, query?: string, header?: string, status?: number|'none',
 *   since?: number, until?: number, request_id?: string, waiting?: boolean, limit?: number}} Filters
 * @typedef {{route?: string, method?: string, path?: string, query?: object, header?: object, body?: any,
 *   exact_query?: boolean, exact_body?: boolean}} Match
 * @typedef {{match?: Match, fault?: string|Array<string>, faults?: Array<any>, respond?: StubResponse, times?: number,
 *   after?: number}} Rule
 * @typedef {{status?: number, header?: Record<string, string>, json?: any, text?: string, base64?: string,
 *   template?: boolean}} StubResponse
 * @typedef {{sequence: number, at: string, method: string, path: string, headers: Record<string, string>,
 *   request_id: ?string, status: ?number, bytes: ?number, duration_ms: ?number, waiting?: boolean, upstream?: string,
 *   cause?: number|string|null, fault?: string, rule?: ?number}} Entry
 * @typedef {{name: string, data: any, id: ?string}} Event
 * @typedef {{name?: string, from?: string, seed?: number, now?: string, frozen?: boolean, idle_s?: number,
 *   condition?: string}} SpaceOptions `from` is a snapshot; `condition` is wrong even after a reset.
 */

/** A control was refused; the message says what is accepted. */
export class Refused extends Error {
  /** @param {string} call @param {number} status @param {any} problem */
  constructor(call, status, problem) {
    const errors = (problem?.errors ?? []).map(one => `\n  ${one.pointer}: ${one.detail}`);
    super(`${call}: ${status} ${problem?.detail ?? JSON.stringify(problem)}${errors.join('')}`);
    this.status = status;
    this.problem = problem ?? {};
  }
}

/** The requests were not those that the test expects; the message shows those that come nearest. */
export class Unverified extends AssertionError {
  /** @param {any} expected @param {any} answer */
  constructor(expected, answer) {
    super({message: explanation(expected, answer), operator: 'verify'});
    this.expectation = expected;
    this.matched = answer.matched ?? 0;
    this.nearMisses = answer.near_misses ?? [];
  }
}

function explanation(expected, {matched = 0, matching = [], near_misses: misses = [], unmatched, old = []}) {
  if (unmatched) {
    return [...unmatched.map(one => `${one.upstream}: no recording of ${one.request}`),
      ...old.map(one => `${one.upstream}: ${one.file} is of ${one.day}`)].join('\n');
  }
  const line = one => `#${one.sequence} ${one.method} ${one.path} → ${one.status}`;
  const lines = [`expected ${JSON.stringify(expected)}; found ${matched}`];
  for (const entry of matching) lines.push(`  found     ${line(entry)}`);
  for (const {entry, differences} of misses) {
    lines.push(`  near miss ${line(entry)}`);
    for (const {field, expected: wanted, actual} of differences) {
      lines.push(`            ${field}: expected '${wanted}', was '${actual}'`);
    }
  }
  if (!matching.length && !misses.length) lines.push('  no request at all');
  return lines.join('\n');
}

/**
 * @param {string} base @param {string} method @param {string} path @param {Options} options
 * @returns {Promise<Answer>}
 */
async function send(base, method, path, {json, body, headers = {}, query = {}, timeoutMs = PATIENCE_MS} = {}) {
  const url = new URL(base + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  const content = json === undefined ? body : JSON.stringify(json);
  const fields = json === undefined ? headers : {'Content-Type': 'application/json', ...headers};
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {method, body: content, headers: fields, redirect: 'manual', signal});
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem');
  return {
    status: response.status, headers: response.headers, bytes, cache: response.headers.get('cache-status') ?? '',
    get text() { return new TextDecoder().decode(bytes); },
    get json() { return JSON.parse(this.text); },
    get data() { return this.json.data; },
    get meta() { return this.json.meta; },
    get code() { return isProblem ? this.json.code : null; },
  };
}

/** Requests to the routes of the apps, as the front end sends them. */
class Requests {
  /** @param {string} url @param {Record<string, string>} headers */
  constructor(url, headers = {}) {
    this.url = url.replace(/\/$/, '');
    this.headers = headers;
  }

  /** Sends a request; every status is an answer.
   * @param {string} method @param {string} path @param {Options} [options] */
  request(method, path, options = {}) {
    return send(this.url, method, path, {...options, headers: {...this.headers, ...options.headers}});
  }

  /** @param {string} path @param {Options} [options] */
  get(path, options) { return this.request('GET', path, options); }
  /** @param {string} path @param {any} [json] @param {Options} [options] */
  post(path, json, options) { return this.request('POST', path, {json, ...options}); }
  /** @param {string} path @param {any} [json] @param {Options} [options] */
  put(path, json, options) { return this.request('PUT', path, {json, ...options}); }
  /** @param {string} path @param {any} [json] @param {Options} [options] */
  patch(path, json, options) { return this.request('PATCH', path, {json, ...options}); }
  /** @param {string} path @param {Options} [options] */
  delete(path, options) { return this.request('DELETE', path, options); }

  /** Listens to events from now on; `close()` it in the end. @param {string} [path] */
  async events(path = '/v1/events') {
    const abort = new AbortController();
    const response = await fetch(this.url + path, {headers: this.headers, signal: abort.signal});
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return new Events(response, abort);
  }
}

/** An event stream. */
class Events {
  #abort;
  #parts;
  #text = '';

  constructor(response, abort) {
    this.#abort = abort;
    this.#parts = response.body.pipeThrough(new TextDecoderStream()).getReader();
    /** @type {Array<Event>} Those that were read. */
    this.seen = [];
  }

  async #next() {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const field = name => block.split('\n').filter(line => line.startsWith(`${name}:`))
          .map(line => line.slice(name.length + 1).replace(/^ /, '')).join('\n');
        if (!field('data')) continue;
        return {name: field('event') || 'message', data: JSON.parse(field('data')), id: field('id') || null};
      }
      const {done, value} = await this.#parts.read();
      if (done) return null;
      this.#text += value;
    }
  }

  /**
   * Returns the next event of a name whose data fits; those before it are in `seen`.
   * @param {string} name @param {function(any): boolean} [when] @param {{timeoutMs?: number}} [options]
   * @returns {Promise<Event>}
   */
  async wait(name, when = () => true, {timeoutMs = PATIENCE_MS} = {}) {
    let timer;
    const late = new Promise((_, reject) => {
      const message = () => `no event ${name}, but ${JSON.stringify(this.seen)}`;
      timer = setTimeout(() => reject(new AssertionError({message: message()})), timeoutMs);
    });
    try {
      for (;;) {
        const event = await Promise.race([this.#next(), late]);
        if (!event) throw new AssertionError({message: `the stream ended without ${name}`});
        this.seen.push(event);
        if (event.name === name && when(event.data)) return event;
      }
    } finally { clearTimeout(timer); }
  }

  close() { this.#abort.abort(); }
}

/** One simulated upstream. */
class Upstream {
  /** @type {(path: string, filters?: any) => Promise<any>} */
  #journal;

  constructor(controls, name) {
    this.name = name;
    /** The base URL at which it is simulated. */
    this.url = `${controls.sandbox}/${name}`;
    const fixtures = (method, path, json) => controls.control(method, `/_harness/upstreams/${name}${path}`, {json});
    /** Sets what becomes of requests: `live`, `record`, `replay`, `spy`, `modify` or `diff`. All but `live` need a
     * folder, the setting `upstreams_NAME_fixtures` of `Larder.start`. @param {string} mode */
    this.mode = async mode => { await fixtures('PUT', '/mode', {mode}); };
    /** `files` with their uses, those that are `broken`, requests `unmatched` by any, and `differences`. */
    this.recordings = () => fixtures('GET', '');
    this.call = (method, path, json) => controls.control(method, `/_sandbox/upstreams/${name}${path}`, {json});
    this.#journal = (path, filters) =>
      controls.control('GET', `/_sandbox/journal${path}`, {query: {upstream: name, ...filters}});
  }

  /** Removes an upstream that was made with `stub`. */
  async remove() { await this.call('DELETE', ''); }

  /** Sets what is wrong: `offline`, `slow(300)`, `error(503)`; several are combined. @param {...string} faults */
  async fault(...faults) { await this.call('PUT', '/fault', {fault: faults.length === 1 ? faults[0] : faults}); }
  offline() { return this.fault('offline'); }
  online() { return this.fault('online'); }
  /** Lets requests wait until they are released. */
  hold() { return this.fault('hold'); }
  /** How many requests are held. */
  async waiting() { return (await this.call('GET', '/fault')).waiting; }
  /** Releases held requests, all or some. @param {{count?: number, sequence?: number}} [which] */
  async release(which = {}) { return (await this.call('POST', '/release', which)).released; }

  /**
   * Adds a rule for some requests; `after` pass before, `times` get a fault.
   * `respond` is a response in place of the upstream's.
   * @param {Rule} rule
   */
  async rule({match = {}, ...rest}) {
    const {id} = await this.call('POST', '/rules', {match, ...rest});
    return {
      id, state: () => this.call('GET', `/rules/${id}`), remove: () => this.call('DELETE', `/rules/${id}`),
    };
  }

  /** @param {Filters} [filters] @returns {Promise<Array<Entry>>} The requests, oldest first. */
  async requests(filters = {}) { return (await this.#journal('', filters)).entries; }
  /** @param {Filters} [filters] @returns {Promise<number>} */
  async count(filters = {}) { return (await this.#journal('', {...filters, count: true})).count; }
  /** Waits for that many requests.
   * @param {number} [count] @param {Filters} [filters] @returns {Promise<Array<Entry>>} */
  async wait(count = 1, filters = {}) {
    return (await this.#journal('/wait', {...filters, count, timeout_ms: PATIENCE_MS})).entries;
  }
}

/** A server, or a space of it. */
class Controls extends Requests {
  /** @type {(path: string, filters?: any) => Promise<any>} */
  #journal;

  /** @param {string} url @param {string} sandbox */
  constructor(url, sandbox) {
    super(url);
    this.sandbox = sandbox.replace(/(\/_sandbox)?\/?$/, '');
    this.#journal = (path, query) => this.control('GET', `/_harness/journal${path}`, {query});
    const clock = (method, path = '', json = undefined) => this.control(method, `/_harness/clock${path}`, {json});
    /** The clock of Larder and its upstreams. It goes forward, until it is ended or reset. */
    this.clock = {
      now: async () => (await clock('GET')).now,
      /** @param {string} [at] A time such as `2030-01-05T10:00:00Z`. */
      freeze: async at => (await clock('PUT', '', at === undefined ? {frozen: true} : {now: at, frozen: true})).now,
      run: async () => (await clock('PUT', '', {frozen: false})).now,
      /** Shows the machine's time again. Larder starts anew with its data. */
      end: async () => (await clock('DELETE')).now,
      /** What has become due is done when it returns. @param {number} seconds */
      advance: async seconds => (await clock('POST', '/advance', {s: seconds})).now,
    };
  }

  /** Opens a session of an app, such as `session('ships', {mode: 'guest'})`. @param {string} app @param {any} login */
  async session(app, login) {
    const answer = await this.post(`/v1/${app}/session`, login);
    if (answer.status >= 300) throw new Error(answer.text);
    return this.user(answer.data.token);
  }

  /** Requests of a user whose session there is already, such as one of `seed`. @param {string} token */
  user(token) { return new Requests(this.url, {Authorization: `Bearer ${token}`}); }

  /** Calls a control. @param {string} method @param {string} path @param {Options} [options] @returns {Promise<any>} */
  async control(method, path, options = {}) {
    // The test image has a key, since its controls are reached from other machines.
    const key = process.env.LARDER_OPERATOR_KEY;
    const headers = {...key && {'Larder-Operator': key}, ...options.headers};
    const answer = await send(this.sandbox, method, path, {timeoutMs: 2 * PATIENCE_MS, ...options, headers});
    const content = answer.bytes.length ? answer.json : null;
    if (answer.status >= 400) throw new Refused(`${method} ${path}`, answer.status, content);
    return content;
  }

  /** Everything as with a new data directory. */
  async reset() { await this.control('POST', '/_harness/reset'); }

  /** @param {string} name */
  upstream(name) { return new Upstream(this, name); }
  async upstreams() { return (await this.control('GET', '/_sandbox')).upstreams.map(one => this.upstream(one.name)); }
  /** Adds an upstream, which Larder mounts at `/v1/upstreams/NAME/` as long as it is there: by an OpenAPI document, by
   * rules with `respond`, by mappings of WireMock or by a HAR file; each is JSON, a text of YAML or JSON, or a path.
   * @param {string} name @param {any} [openapi] @param {{rules?: Array<Rule>, wiremock?: any, har?: any}} [further]
   * @returns {Promise<Upstream & {unmapped: Array<{source: string, member: string}>}>} `unmapped` are the parts of
   *   files that have become no rule. */
  async stub(name, openapi, further = {}) {
    const {unmapped} = await this.control('POST', '/_sandbox/upstreams', {json: {name, openapi, ...further}});
    return Object.assign(this.upstream(name), {unmapped});
  }
  /** Takes all upstreams offline. */
  async offline() { for (const one of await this.upstreams()) await one.offline(); }
  /** Brings all upstreams back. */
  async online() { for (const one of await this.upstreams()) await one.online(); }

  /** Sets what is wrong with Larder itself as the front end sees it: everywhere, or at a route.
   * @param {string|Array<string>} fault @param {{route?: string, times?: number, after?: number}} [where] */
  async frontFault(fault, where = {}) { await this.control('PUT', '/_harness/front/fault', {json: {fault, ...where}}); }

  /** The requests to Larder, oldest first. @param {Filters} [filters] @returns {Promise<Array<Entry>>} */
  async requests(filters = {}) { return (await this.#journal('', filters)).entries; }
  /** @param {Filters} [filters] @returns {Promise<number>} */
  async count(filters = {}) { return (await this.#journal('', {...filters, count: true})).count; }
  /** Waits for that many requests, with `waiting: true` for those that wait for an upstream.
   * @param {number} [count] @param {Filters} [filters] @returns {Promise<Array<Entry>>} */
  async wait(count = 1, filters = {}) {
    return (await this.#journal('/wait', {...filters, count, timeout_ms: PATIENCE_MS})).entries;
  }
  /** Empties both journals. */
  async forget() {
    await this.control('DELETE', '/_harness/journal');
    await this.control('DELETE', '/_sandbox/journal');
  }

  /**
   * Throws `Unverified` unless so many requests match. @returns {Promise<number>} How many did.
   * @param {{match: Match, status?: number, upstream?: string, exactly?: number, at_least?: number, at_most?: number}}
   *   expected
   */
  async verify(expected) { return (await this.#verified('', expected)).matched; }

  /** Throws `Unverified` if a request in replay had no recording, or one that is older than so many days.
   * @param {number} [days] */
  async verifyRecordings(days) { await this.#verified('/recordings', {oldest_days: days}); }

  async #verified(path, json) {
    try { return await this.control('POST', `/_harness/verify${path}`, {json}); } catch (error) {
      throw error instanceof Refused && error.status === 417 ? new Unverified(json, error.problem) : error;
    }
  }

  /** Adds accounts, notes, lists, documents, files and records: all of it, or nothing. @param {any} document */
  seed(document) { return this.control('PUT', '/_harness/seed', {json: document}); }
  /** Keeps the state under a name. @param {string} name */
  snapshot(name) { return this.control('PUT', `/_harness/snapshots/${encodeURIComponent(name)}`); }
  /** Brings a kept state back. @param {string} name */
  restore(name) { return this.control('POST', `/_harness/snapshots/${encodeURIComponent(name)}/restore`); }

  /** The lines of the log, as far as this object has started the server. @returns {Promise<Array<string>>} */
  async log() { return []; }

  /** The last requests, the clock and the log, as lines: for a test that has failed.
   * @param {number} [last] @returns {Promise<Array<string>>} */
  async report(last = 30) {
    const lines = [];
    for (const [title, path] of [['requests to Larder', '/_harness'], ['requests to upstreams', '/_sandbox']]) {
      const {entries} = await this.control('GET', `${path}/journal`, {query: {limit: last}});
      lines.push(`larder: ${title}`, ...entries.map(one => {
        const fault = one.fault && one.fault !== 'online' ? `  fault ${one.fault}` : '';
        return `  #${one.sequence} ${one.method} ${one.path} → ${one.waiting ? 'waits' : one.status ?? 'none'}${fault}`;
      }));
    }
    const log = (await this.log()).slice(-last);
    return [...lines, `larder: clock ${await this.clock.now()}`, 'larder: log', ...log.map(line => `  ${line}`)];
  }
}

/** A space of a server: a world for one test. */
class Space extends Controls {
  constructor(larder, made) {
    super(made.url, made.sandbox);
    this.name = made.name;
    this.log = async () => (await larder.log()).filter(line => line.split(' ').includes(`space=${made.name}`));
    this.end = () => larder.control('DELETE', `/_harness/spaces/${encodeURIComponent(made.name)}`);
  }
}

/** A running server. */
export class Larder extends Controls {
  #stop;

  constructor(url, sandbox, stop = async () => {}, logFile = '') {
    super(url, sandbox);
    this.#stop = stop;
    if (logFile) this.log = async () => (await readFile(logFile, 'utf8')).trimEnd().split('\n');
  }

  /** The server that `larder exec` has started, or with `--spaces` the one of a worker; null without one.
   * @param {number} [worker] */
  static fromEnvironment(worker = 0) {
    const {LARDER_URL: url, LARDER_SANDBOX_URL: sandbox, LARDER_SPACES: text} = process.env;
    const spaces = JSON.parse(text || '[]');
    if (spaces.length) return new Larder(spaces[worker % spaces.length].url, spaces[worker % spaces.length].sandbox);
    return url && sandbox ? new Larder(url, sandbox) : null;
  }

  /**
   * Starts a server with simulated upstreams, a free port and a new data directory; `stop()` it in the end. It ends
   * with this process, too.
   * @param {{executable?: string, settings?: Record<string, any>}} [options] The default is
   *   `LARDER_EXECUTABLE`, then the program inside this package, then `larder`; `{freshness_ships_s: 60}` is a setting.
   */
  static async start({executable = process.env.LARDER_EXECUTABLE, settings = {}} = {}) {
    executable ||= existsSync(INSIDE) ? INSIDE : 'larder';
    const folder = await mkdtemp(join(tmpdir(), 'larder-testing-'));
    const values = {http_port: 0, data_directory: join(folder, 'data'), log_level: 'warning', ...settings};
    const flags = Object.entries(values).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, String(value)]);
    // Of the environment, what begins so is a setting of the server.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LARDER_')));
    const log = await open(join(folder, 'log'), 'w');
    const server = spawn(executable, ['serve', '--sandbox', '--harness', '--stop-with-stdin', ...flags],
      {env, stdio: ['pipe', 'pipe', log.fd]});
    const ended = new Promise(resolve => { server.once('close', resolve).once('error', resolve); });
    const stop = async () => {
      server.stdin?.end();
      await ended;
      await log.close();
      await rm(folder, {recursive: true, force: true});
    };
    let sandbox = '';
    for await (const line of createInterface({input: server.stdout})) {
      if (line.startsWith('sandbox on ')) sandbox = line.split(' ').at(-1);
      if (line.startsWith('listening on ')) {
        server.stdout.resume();
        return new Larder(line.split(' ').at(-1), sandbox, stop, join(folder, 'log'));
      }
    }
    const old = "This machine's C library is too old; a Larder elsewhere works: LARDER_URL, LARDER_SANDBOX_URL.\n";
    const text = await readFile(join(folder, 'log'), 'utf8').then(log => log + (log.includes('GLIBC') ? old : ''));
    await stop();
    throw new Error(`${executable} did not start; is LARDER_EXECUTABLE set?\n${text}`);
  }

  /** Returns a function for node's test runner that gives a test a space of its own. If the test fails, journals, clock
   * and log are among its diagnostics. @param {(space: Controls, t: any) => any} body @param {SpaceOptions} [options]
   * @returns {(t: any) => Promise<void>} */
  test(body, options = {}) {
    return async t => {
      const space = await this.space(options);
      try { await body(space, t); } catch (error) {
        // The failure is worth more than its report.
        const lines = await space.report().catch(reason => [`larder: no report: ${reason.message}`]);
        for (const line of lines) t.diagnostic(line);
        throw error;
      } finally { await space.end(); }
    };
  }

  /** Makes a space: a server with data, upstreams, journals and clock of its own. `end()` it after the test.
   * @param {SpaceOptions} [options] */
  async space(options = {}) { return new Space(this, await this.control('POST', '/_harness/spaces', {json: options})); }

  /** Stops the server if this object has started it. */
  stop() { return this.#stop(); }
}
