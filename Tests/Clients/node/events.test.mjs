import assert from 'node:assert/strict';
import {describe, it} from 'node:test';
import {worlds} from './world.mjs';

describe('Events', {concurrency: true}, () => {
  const world = worlds();

  it('tell of an outage and of its end', world(async space => {
    const guest = await space.session('ships', {mode: 'guest'});
    await guest.get('/v1/ships');
    const events = await space.events();
    const spacex = space.upstream('spacex');
    await spacex.offline();
    await guest.get('/v1/ships?refresh=1');
    await events.wait('connectivity', data => data.upstream === 'spacex' && !data.reachable);
    await spacex.online();
    await space.clock.advance(61);
    await events.wait('connectivity', data => data.upstream === 'spacex' && data.reachable);
    events.close();
  }));

  it('reach only the space that they are of', world(async space => {
    const events = await space.events();
    await space.post('/v1/shop/list/items', {product_id: 53, quantity: 1});
    const event = await events.wait('screen-changed', data => data.screen === 'shop.list');
    assert.equal(event.data.revision, (await space.get('/v1/shop/list')).meta.revision);
    assert.equal(events.seen.filter(one => one.data.screen === 'shop.list').length, 1);
    events.close();
  }));

  it('name the request that caused one to an upstream', world(async space => {
    const guest = await space.session('ships', {mode: 'guest'});
    await guest.get('/v1/ships', {headers: {'X-Request-Id': 'app-7'}});
    const [front] = await space.requests({request_id: 'app-7'});
    const asked = await space.upstream('spacex').requests({request_id: 'app-7'});
    assert.deepEqual([...new Set(asked.map(one => one.cause))], [front.sequence]);
  }));
});
