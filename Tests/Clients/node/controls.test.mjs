import assert from 'node:assert/strict';
import {describe, it} from 'node:test';
import {Refused, Unverified} from '../../../clients/js/larder.mjs';
import {worlds} from './world.mjs';

describe('The controls', {concurrency: true}, () => {
  const world = worlds();
  const noCopy = {headers: {'Cache-Control': 'no-store'}};
  const categories = '/v1/upstreams/catalogue/categories';

  it('let one request through for eight clients', world(async space => {
    const guest = await space.session('ships', {mode: 'guest'});
    const spacex = space.upstream('spacex');
    await spacex.hold();
    const clients = Array.from({length: 8}, () => guest.get('/v1/ships'));
    assert.equal((await space.wait(8, {waiting: true, path: '/v1/ships'})).length, 8);
    await spacex.wait(1);
    assert.equal(await spacex.waiting(), 1);
    assert.equal(await spacex.release(), 1);
    assert.deepEqual(new Set((await Promise.all(clients)).map(one => one.status)), new Set([200]));
    assert.equal(await spacex.count({path: '/spacex/v4/ships'}), 1);
  }));

  it('fail twice, then no more', world(async space => {
    const rule = await space.upstream('catalogue').rule({match: {path: '/categories'}, fault: 'error(500)', times: 2});
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await space.get(categories, noCopy)).status);
    assert.deepEqual(statuses, [500, 500, 200]);
    assert.equal((await rule.state()).left, 0);
  }));

  it('fail at the third of sixteen requests at once', world(async space => {
    await space.upstream('catalogue').rule({match: {path: '/categories'}, fault: 'error(500)', after: 2, times: 1});
    const answers = await Promise.all(Array.from({length: 16}, () => space.get(categories, noCopy)));
    assert.equal(answers.filter(one => one.status === 500).length, 1);
    assert.equal(answers.filter(one => one.status === 200).length, 15);
  }));

  it('show the nearest request if another one was expected', world(async space => {
    await space.get('/v1/shop/search?q=lamp');
    await space.verify({match: {path: '/v1/shop/search', query: {q: 'lamp'}}, exactly: 1});
    await assert.rejects(space.verify({match: {path: '/v1/shop/search', query: {q: 'chair'}}}), error => {
      assert.ok(error instanceof Unverified);
      assert.match(error.message, /query\.q: expected 'chair', was 'lamp'/);
      return true;
    });
  }));

  it('say what is accepted', world(async space => {
    await assert.rejects(space.upstream('spacex').fault('slowly'), error => {
      assert.ok(error instanceof Refused && error.status === 400);
      assert.match(error.message, /slow\(milliseconds/);
      return true;
    });
  }));

  it('forget everything in one call', world(async space => {
    const guest = await space.session('ships', {mode: 'guest'});
    await space.post('/v1/shop/list/items', {product_id: 53, quantity: 2});
    await space.offline();
    await space.reset();
    assert.equal((await guest.get('/v1/ships')).status, 401);
    assert.deepEqual((await space.get('/v1/shop/list')).data.items, []);
    assert.equal((await space.get('/v1/shop/search')).status, 200);
  }));
});
