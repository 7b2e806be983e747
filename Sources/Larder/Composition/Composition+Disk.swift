import Disk
import Screens
import Storage

extension Composition {
    /// The Disk app. The mount of its upstream takes the token of whoever is logged in to it.
    mutating func addDisk() throws {
        guard let disk = upstream("yandex_disk") else { return }
        let oauth = upstream("yandex_oauth")
        let secrets = try SealedSecrets(database)
        let api = YandexDiskAPI(
            upstream: disk,
            freshness: configuration.diskFreshness,
            hasher: try secrets.credentialHasher()
        )
        let client = configuration.diskClient
        let service = DiskService(
            api: api,
            oauth: oauth.flatMap { upstream in client.map { YandexOAuthAPI(upstream: upstream, client: $0) } },
            store: DiskStore(database, secrets: secrets, api: api),
            sessions: sessions,
            events: events,
            options: configuration.disk,
            accessRecorder: accessRecorder,
            media: media,
            scratch: scratch,
            clock: clock,
            logger: logger
        )
        table.add(DiskRoutes(service: service).routes)
        apps.append(("disk", "Yandex Disk"))
        services.append(DiskDownloads(service))
        diskFiles = DiskFiles(service)
        mountCredentials["yandex_disk"] = { try service.mountCredential($0) }
    }
}
