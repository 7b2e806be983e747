/// The upstreams that the sandbox simulates; the raw value is the prefix of their paths.
package enum SandboxUpstream: String, Sendable, CaseIterable {
    /// The SpaceX REST API, ships only (`/v4/ships`).
    case spacex
    /// The Platzi Fake Store API, products and categories (`/products`, `/categories`).
    case catalogue
    /// The people API of the notes app (Mockaroo), and a host of avatars (`/api/{schema}`, `/avatars/{text}.png`).
    case people
    /// A geocoder for places as one types (Photon, `/api?q=`).
    case geocoder
    /// The Yandex Disk REST API; replaces `https://cloud-api.yandex.net/v1/disk`.
    case yandexDisk = "yandex_disk"
    /// Yandex OAuth; replaces `https://oauth.yandex.ru`.
    case yandexOAuth = "yandex_oauth"
    /// Target of links to the content and the previews of files.
    case yandexDownloader = "yandex_downloader"
    /// Target of links for uploads.
    case yandexUploader = "yandex_uploader"
}
