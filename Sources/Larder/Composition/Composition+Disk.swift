import Disk
import Screens

extension Composition {
    /// The Disk app. The mount of its upstream sends the token of the session's account.
    mutating func addDisk() throws {
        guard let upstream = upstream("yandex_disk") else { return }
        let oauth = self.upstream("yandex_oauth")
        let application = configuration.diskClient
        let app = try DiskApp(
            upstream: upstream,
            freshness: configuration.diskFreshness,
            oauth: oauth.flatMap { oauth in application.map { (oauth, $0) } },
            database: database,
            sessions: sessions,
            events: events,
            options: configuration.disk,
            accessRecorder: accessRecorder,
            media: media,
            scratch: scratch,
            clock: clock,
            logger: logger
        )
        table.add(app.routes)
        apps.append((DiskApp.name, DiskApp.title))
        services += app.services
        diskFiles = app.files
        mountCredentials["yandex_disk"] = app.mountCredential
    }
}
