import assert from 'node:assert/strict';
import {describe, it} from 'node:test';
import {worlds} from './world.mjs';

describe('The apps', {concurrency: true}, () => {
  const world = worlds();
  const ship = space => space.session('ships', {mode: 'guest'});

  it('show a copy of the ships that is told apart from fresh data', world(async space => {
    const guest = await ship(space);
    const fresh = await guest.get('/v1/ships');
    assert.match(fresh.cache, /uri-miss/);
    await space.upstream('spacex').offline();
    const shown = await guest.get('/v1/ships?refresh=1');
    assert.equal(shown.status, 200);
    assert.deepEqual([shown.meta.offline, shown.meta.stale], [true, true]);
    assert.equal(shown.data.items.length, fresh.data.items.length);
  }));

  it('say that the shop is offline without a copy', world(async space => {
    await space.offline();
    const answer = await space.get('/v1/shop/search');
    assert.ok(answer.status >= 500 && answer.code);
    assert.deepEqual([answer.json.offline, answer.json.retryable], [true, true]);
  }));

  it('keep notes while everything is offline', world(async space => {
    await space.offline();
    const anna = await space.session('notes', {mode: 'register', username: 'anna', password: 'correct horse'});
    assert.equal((await anna.post('/v1/notes', {body: 'offline'})).status, 201);
    assert.deepEqual((await anna.get('/v1/notes')).data.items.map(note => note.first_line), ['offline']);
  }));

  it('list the files of the disk again when they are old', world(async space => {
    await space.clock.freeze('2030-01-05T10:00:00Z');
    const anna = await space.session('disk', {mode: 'oauth_token', access_token: 'sandbox-token'});
    await anna.get('/v1/disk/files');
    assert.match((await anna.get('/v1/disk/files')).cache, /hit/);
    await space.clock.advance(61);
    assert.match((await anna.get('/v1/disk/files')).cache, /fwd=stale/);
  }));

  it('need no upstream for documents', world(async space => {
    assert.equal((await space.get('/v1/pdf/documents')).meta.source, 'local');
    assert.equal(await space.count({path: '/v1/pdf', method: 'GET'}), 1);
  }));
});
