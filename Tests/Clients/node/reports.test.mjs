import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, it} from 'node:test';
import {fileURLToPath} from 'node:url';
import {worlds} from './world.mjs';

const CLIENT = fileURLToPath(new URL('../../../clients/js/larder.mjs', import.meta.url));
const SUITE = `
import {after, before, it} from 'node:test';
import {Larder} from ${JSON.stringify(CLIENT)};
let larder;
before(async () => { larder = await Larder.start(); });
after(() => larder.stop());
it('fails', t => larder.test(async space => {
  const guest = await space.session('ships', {mode: 'guest'});
  await space.upstream('spacex').fault('error(500)');
  await guest.get('/v1/ships?refresh=1');
  await space.verify({match: {path: '/v1/ships'}, exactly: 2});
}, {now: '2030-01-05T10:00:00Z', frozen: true})(t));
`;

describe('Tests', () => {
  const world = worlds();

  it('HARN-37 show journals, clock and log when they fail', () => {
    const folder = mkdtempSync(join(tmpdir(), 'larder-node-'));
    try {
      const file = join(folder, 'one.test.mjs');
      writeFileSync(file, SUITE);
      // Below a test, node's runner would report to the one above.
      const {NODE_TEST_CONTEXT: _, LARDER_URL: __, ...env} = process.env;
      const ran = spawnSync('node', ['--test', file], {env, encoding: 'utf8'});
      assert.equal(ran.status, 1, ran.stdout + ran.stderr);
      for (const shown of ['larder: requests to Larder', 'GET /v1/ships?refresh=1 → 200',
        'GET /spacex/v4/ships → 500  fault error(500)', 'larder: clock 2030-01-05T10:00:00', 'larder: log']) {
        assert.ok(ran.stdout.includes(shown), `${shown}: ${ran.stdout}`);
      }
    } finally { rmSync(folder, {recursive: true}); }
  });

  it('read bytes, and wait no longer than they say', world(async space => {
    const picture = await space.get('/v1/upstreams/people/avatars/Anna.png');
    assert.equal(picture.status, 200, picture.text);
    assert.deepEqual([...picture.bytes.slice(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    const spacex = space.upstream('spacex');
    await spacex.hold();
    const late = space.get('/v1/upstreams/spacex/v4/ships', {timeoutMs: 50, headers: {'Cache-Control': 'no-store'}});
    await assert.rejects(late, {name: 'TimeoutError'});
  }));

  it('have APIs of their own', world(async space => {
    const rule = {match: {route: 'GET /today'}, respond: {json: {city: '{{query.city}}'}}};
    const weather = await space.stub('weather', undefined, {rules: [rule]});
    assert.deepEqual(weather.unmapped, []);
    assert.deepEqual((await space.get('/v1/upstreams/weather/today?city=Oslo')).json, {city: 'Oslo'});
    await weather.fault('100% error(503)');
    assert.equal(await weather.count({path: '/weather/today'}), 1);
  }));
});
