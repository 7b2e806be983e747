import {after, before} from 'node:test';
import {Larder} from '../../../clients/js/larder.mjs';

/**
 * A server for the tests of a file, and a space of it for each test.
 * @returns {function(function(any): Promise<void>): function(): Promise<void>} Gives a test its space.
 */
export function worlds() {
  let larder;
  before(async () => {
    larder = Larder.fromEnvironment() ?? await Larder.start({settings: {notes_scrypt_logarithm: 10}});
  });
  after(() => larder.stop());
  return test => async () => {
    const space = await larder.space();
    try { await test(space); } finally { await space.end(); }
  };
}
