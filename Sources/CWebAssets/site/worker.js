// The service worker of the installed pages. It serves one page, /share, to which a system's share sheet sends photos
// and files: it keeps them until the page has taken them. It serves no screen and no call of the API, so nothing that
// it serves can be out of date.

const kept = 'larder-shared';

addEventListener('install', () => skipWaiting());
// The page may go on to other screens, whose calls are left to the network as well.
addEventListener('fetch', event => {
  const {method, mode} = event.request;
  if (method === 'POST' && mode === 'navigate') event.respondWith(take(event.request));
});

/** Keeps the files of a request in place of earlier ones, and leads to the page. */
async function take(request) {
  const files = (await request.formData()).getAll('files');
  await caches.delete(kept);
  const cache = await caches.open(kept);
  for (const [index, file] of files.entries()) {
    const headers = {'Content-Type': file.type || 'application/octet-stream',
      'File-Name': encodeURIComponent(file.name)};
    await cache.put(`/share/${index}`, new Response(file, {headers}));
  }
  return Response.redirect('/share', 303);
}
