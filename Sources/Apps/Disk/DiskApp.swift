package import Cluster
import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Logging
package import Screens
package import ServiceLifecycle
package import Storage
package import Upstream

/// The Disk app: files of Yandex Disk, also without a network.
package struct DiskApp: App {
    /// Name of the app in paths, sessions and events.
    package static let name = DiskStore.app
    package static let title = Text("Yandex Disk", ru: "Яндекс Диск")
    package static let migrations = DiskStore.migrations
    package static let replicated: JournalTables? = DiskStore.replicated
    /// Tokens are sealed by the key of all servers.
    package static let sealsSharedSecrets = true

    let disk: Disk
    let downloads: DownloadQueue
    let offline: OfflineSync
    let outbox: OutboxSender

    /// - Throws: `StorageError` if the key of the sealed secrets, or the outbox, cannot be read.
    package init(_ context: AppContext) throws {
        let disk = try Disk(context)
        self.disk = disk
        downloads = DownloadQueue(disk)
        offline = OfflineSync(disk)
        outbox = OutboxSender(disk)
        let store = disk.store
        // The store keeps this closure, and the captured objects keep the store.
        store.forgotten.listen { [weak downloads, weak offline, weak outbox] account in
            downloads?.cancel(account: account)
            offline?.cancel(account: account)
            outbox?.cancel(account: account)
        }
        disk.sessions.letExpire(
            sessionsOf: Self.name,
            { expired, db in
                if try store.remove(expired, db) { store.forgotten.send(expired.account, after: db) }
            },
            shared: { expired in try await store.remove(expired) }
        )
        store.listen { [logger = disk.logger] error in
            // The cached data of the account is updated before its next use, or at the next start.
            logger.warning("an account of other servers could not be followed", metadata: ["error": "\(error)"])
        }
        let now = store.users.isShared ? nil : disk.clock.now()
        try disk.store.database.read { try store.outbox.load(at: now, $0) }
    }

    package var files: AccountFiles? { AccountFiles(DiskFiles(disk: disk)) }

    /// Brings the cached data up to date with the accounts: data of accounts logged out while the server was down is
    /// removed.
    package func prepare() async throws { try await disk.store.followAll() }

    /// Tasks that outlive requests: downloads continue after a restart, and end with the server.
    package var services: [any Service] {
        [
            BackgroundService(work: downloads.run, stop: downloads.stop),
            BackgroundService(work: { [offline] in offline.wake() }, stop: offline.stop),
            BackgroundService(work: outbox.run, stop: outbox.stop),
            BackgroundService(work: {}, stop: { [disk] in disk.background.stop() }),
        ]
    }

    /// Resumes pending writes and offline work that wait for the API.
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {
        guard upstream.name == Self.disk.name else { return }
        outbox.wake()
        offline.wake()
    }

    /// The writes that wait for the API.
    package var outboxLoads: [String: OutboxLoad] { [Self.disk.name: disk.store.outbox.load] }

    /// The mount of the API sends the token of the session's account.
    package var mountCredentials: [String: MountRoutes.CredentialProvider] {
        [Self.disk.name: { [tokens = disk.tokens] in try await tokens.mountCredential($0) }]
    }

    package static var routes: [AppRoute<Self>] {
        [
            Route(.get, "/v1/disk/launch", "disk.launch", knownSession: { $0.onboarding.launch }),
            Route(.get, "/v1/disk/onboarding", "disk.onboarding", knownSession: { $0.onboarding.show }),
            Route(.put, "/v1/disk/onboarding", "disk.onboarding", knownSession: { $0.onboarding.set }).body("seen"),
            Route(.delete, "/v1/disk/onboarding", "disk.onboarding", knownSession: { $0.onboarding.reset }),
            Route(.get, "/v1/disk/onboarding/{id}/image", "disk.onboarding", { $0.onboarding.picture }),
            Route(.post, "/v1/disk/session/authorization", "disk.session", { $0.login.authorize }).unkeyed(),
            Route(.post, "/v1/disk/session", "disk.session", { $0.login.open })
                .body("mode", "access_token", "code", "state").unkeyed(),
            Route(.get, "/v1/disk/session", "disk.session", session: { $0.login.show }),
            Route(.delete, "/v1/disk/session", "disk.session", session: { $0.login.close }).query("confirm")
                .unkeyed(),
            Route(.get, "/v1/disk/profile", "disk.profile", session: { $0.profile.show }).query("refresh"),
            Route(.get, "/v1/disk/profile/chart.svg", "disk.profile", session: { $0.profile.chart })
                .query("refresh"),
            Route(.get, "/v1/disk/recent", "disk.recent", session: { $0.lists.recent })
                .query(.page, "media_type", "tz", "refresh"),
            Route(.get, "/v1/disk/files", "disk.files", session: { $0.lists.folder })
                .query("path", .page, "sort", "tz", "refresh"),
            Route(.post, "/v1/disk/files/move", "disk.file", session: { $0.writes.move }).answering().query("tz")
                .body("from", "to", "overwrite"),
            Route(.post, "/v1/disk/files/copy", "disk.file", session: { $0.writes.copy }).answering().query("tz")
                .body("from", "to", "overwrite"),
            Route(.post, "/v1/disk/files/batch", "disk.files", session: { $0.batches.run })
                .body("action", "paths", "to", "permanently", "overwrite"),
            Route(.post, "/v1/disk/folders", "disk.file", session: { $0.writes.makeFolder })
                .answering().query("tz").body("path"),
            Route(.get, "/v1/disk/published", "disk.published", session: { $0.lists.published })
                .query("type", .page, "tz", "refresh"),
            Route(.delete, "/v1/disk/published", "disk.published", session: { $0.writes.unpublish })
                .answering().query("path"),
            Route(.get, "/v1/disk/search", "disk.search", session: { $0.search.show })
                .query("q", "type", "media_type", "sort", .page, "tz", "refresh"),
            Route(.get, "/v1/disk/file", "disk.file", session: { $0.items.show }).query("path", "tz", "refresh"),
            Route(.patch, "/v1/disk/file", "disk.file", session: { $0.writes.rename })
                .answering().query("path", "tz").body("name"),
            Route(.delete, "/v1/disk/file", "disk.file", session: { $0.writes.delete })
                .answering().query("path", "permanently"),
            Route(.get, "/v1/disk/file/content", "disk.content", session: { $0.content.show })
                .query("path", "disposition", "refresh"),
            Route(
                .put,
                "/v1/disk/file/content",
                "disk.content",
                maximumBodyBytes: .max,
                session: { $0.writes.upload }
            )
            .answering().query("path", "overwrite", "tz"),
            Route(.get, "/v1/disk/file/preview", "disk.preview", session: { $0.previews.show })
                .query("path", "size", "refresh"),
            Route(.get, "/v1/disk/file/page", "disk.page", session: { $0.pages.page })
                .query("path", "page", "width", "refresh"),
            Route(.get, "/v1/disk/file/pdf", "disk.pdf", session: { $0.pages.document }).query("path", "refresh"),
            Route(.get, "/v1/disk/offline", "disk.offline", session: { $0.kept.show }).query(.page, "tz"),
            Route(.put, "/v1/disk/offline", "disk.offline", session: { $0.kept.mark }).query("tz").body("path"),
            Route(.delete, "/v1/disk/offline", "disk.offline", session: { $0.kept.unmark }).query("path"),
            Route(.post, "/v1/disk/links", "disk.file", session: { $0.writes.publish })
                .answering().body("path", "available_for_s"),
            Route(.post, "/v1/disk/downloads", "disk.file", session: { $0.jobs.start }).body("path"),
            Route(.get, "/v1/disk/downloads/{id}", "disk.file", session: { $0.jobs.show }),
            Route(.get, "/v1/disk/operations/{id}", "disk.operation", session: { $0.writes.operation }),
            Route(.get, "/v1/disk/outbox", "disk.outbox", session: { $0.queue.list }).query(.page, "tz"),
            Route(.get, "/v1/disk/outbox/{id}", "disk.outbox", session: { $0.queue.show }).query("tz"),
            Route(.delete, "/v1/disk/outbox/{id}", "disk.outbox", session: { $0.queue.takeBack }).answering(),
            Route(.post, "/v1/disk/outbox/{id}/retry", "disk.outbox", session: { $0.queue.retry })
                .answering().query("tz"),
            Route(.post, "/v1/disk/outbox/{id}/resolve", "disk.outbox", session: { $0.queue.resolve })
                .answering().query("tz").body("how"),
            Route(.get, "/v1/disk/trash", "disk.trash", session: { $0.trash.show }).query(.page, "tz", "refresh"),
            Route(.delete, "/v1/disk/trash", "disk.trash", session: { $0.trash.empty }),
            Route(.delete, "/v1/disk/trash/item", "disk.trash", session: { $0.trash.purge }).query("path"),
            Route(.post, "/v1/disk/trash/restore", "disk.trash", session: { $0.trash.restore })
                .body("path", "name", "overwrite"),
        ]
    }

    private var onboarding: Onboarding { Onboarding(store: disk.store, logins: disk.logins) }
    var login: Sessions { Sessions(disk: disk) }
    private var profile: Profile { Profile(disk: disk) }
    private var lists: Listing { Listing(disk: disk) }
    private var search: Search { Search(disk: disk) }
    private var items: Files { Files(disk: disk) }
    private var content: Content { Content(disk: disk) }
    private var previews: Previews { Previews(disk: disk) }
    private var pages: Pages { Pages(disk: disk) }
    private var writes: Writes { Writes(disk: disk) }
    private var batches: Batches { Batches(disk: disk) }
    private var kept: Offline { Offline(disk: disk, sync: offline) }
    private var jobs: Downloads { Downloads(disk: disk, queue: downloads) }
    private var queue: OutboxRequests { OutboxRequests(disk: disk, sender: outbox) }
    private var trash: Trash { Trash(disk: disk) }
}

extension DiskApp {
    /// Accounts: `{"access_token"}`, whose account the API tells.
    package var seeding: Seeding {
        Seeding { [login = login] fields, token in
            try fields.requireOnly("app", "access_token", "token")
            let access = try Sessions.broughtToken(fields)
            let account: Sessions.OpenedAccount
            do {
                account = try await login.account(of: access)
            } catch let problem as Problem where problem.code == .invalidCredentials {
                throw Problem.validation("/access_token", "invalid", "Yandex Disk does not accept it.")
            }
            let session = login.session(of: account)
            return SeedStep { db in
                let id = try login.disk.sessions.seed(session, token: token, in: db)
                try login.disk.store.link(session, id: id, account.space, access, db)
            }
        }
    }
}

/// Work that begins with the server and ends with it.
private struct BackgroundService: Service {
    let work: @Sendable () async -> Void
    let stop: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown(work)
        try? await gracefulShutdown()
        await stop()
    }
}
