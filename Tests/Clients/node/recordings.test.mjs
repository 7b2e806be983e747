import assert from 'node:assert/strict';
import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, it} from 'node:test';
import {Larder, Refused} from '../../../clients/js/larder.mjs';
import {worlds} from './world.mjs';

const weather = {
  openapi: '3.1.0', info: {title: 'Weather', version: '1'},
  paths: {'/today': {get: {responses: {200: {content: {'application/json': {example: {celsius: 21}}}}}}}},
};

describe('Recordings and stubs', {concurrency: true}, () => {
  const world = worlds();

  it('replay what was recorded, without the upstream', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'larder-recordings-'));
    // A busy machine may need more than the patience to record.
    const settings = {upstreams_spacex_fixtures: folder, upstreams_spacex_patience_ms: 60_000};
    const larder = await Larder.start({settings});
    try {
      const spacex = larder.upstream('spacex');
      const names = async () => {
        const shown = await (await larder.session('ships', {mode: 'guest'})).get('/v1/ships');
        assert.equal(shown.meta.offline, false);
        return shown.data.items.map(one => one.name);
      };
      await spacex.mode('record');
      const recorded = await names();
      assert.deepEqual(await readdir(folder), [(await spacex.recordings()).files[0].file]);
      await larder.reset();
      await spacex.mode('replay');
      await spacex.offline();
      assert.deepEqual(await names(), recorded);
      assert.equal(await spacex.count(), 0);
    } finally {
      await larder.stop();
      await rm(folder, {recursive: true});
    }
  });

  it('need a folder', world(async space => {
    await assert.rejects(space.upstream('spacex').mode('record'), error => error instanceof Refused);
  }));

  it('respond with the example of a document', world(async space => {
    const stub = await space.stub('weather', weather);
    assert.deepEqual(await (await fetch(`${stub.url}/today`)).json(), {celsius: 21});
    assert.equal((await fetch(`${stub.url}/tomorrow`)).status, 404);
    await stub.remove();
    assert.equal((await fetch(`${stub.url}/today`)).status, 404);
  }));
});
