// The service worker of the installed pages. It serves one page, /share, to which a system's share sheet sends photos
// and files: it keeps them until the page has taken them. It serves no screen and no call of the API, so nothing that
// it serves can be out of date.

const kept = 'larder-shared';

addEventListener('install', () => skipWaiting());
// The page may go on to other screens, whose calls are left to the network as well.
addEventListener('fetch', event => {
  const {method, mode, url} = event.request;
  const isShare = method === 'POST' && mode === 'navigate' && new URL(url).pathname === '/share';
  if (isShare) event.respondWith(take(event.request));
});

/** Keeps the files of a request beside earlier ones, and leads to the page. */
async function take(request) {
  try {
    const files = (await request.formData()).getAll('files').filter(file => file.name);
    const cache = await caches.open(kept);
    for (const file of files) {
      const headers = {'Content-Type': file.type || 'application/octet-stream',
        'File-Name': encodeURIComponent(file.name)};
      await cache.put(`/share/${crypto.randomUUID()}`, new Response(file, {headers}));
    }
    return Response.redirect('/share', 303);
  } catch { return Response.redirect('/share?failed=1', 303); }
}
