package import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import Media
package import Screens
package import ServiceLifecycle
package import Storage
import Upstream

/// The Disk app: files of Yandex Disk, also without a network.
package struct DiskApp: App {
    /// Name of the app in paths, sessions and events.
    package static let name = DiskStore.app
    /// Title of the app for people.
    package static let title = Text("Yandex Disk", ru: "Яндекс Диск")
    /// Tables of the app.
    package static let migrations = DiskStore.migrations
    /// Tables that servers replicate.
    package static let replicated: JournalTables? = DiskStore.replicated
    /// Tokens are sealed by the key of all servers.
    package static let sealsSharedSecrets = true

    let composition: DiskComposition

    /// Creates the app.
    ///
    /// - Throws: `StorageError` if the key of the sealed secrets cannot be read.
    package init(_ context: AppContext) throws {
        let application = YandexOAuthClient.Application(context.settings)
        try self.init(
            upstream: try context.upstream(Self.disk),
            oauth: context.optionalUpstream(Self.oauth).flatMap { oauth in application.map { (oauth, $0) } },
            database: context.database,
            users: context.users,
            seal: context.seal,
            sessions: context.sessions,
            events: context.events,
            settings: context.settings,
            budget: context.cacheBudget,
            accessRecorder: context.accessRecorder,
            media: context.media,
            scratch: context.scratch,
            clock: context.clock,
            logger: context.logger
        )
    }

    /// - Parameters:
    ///   - budget: The size of the cache: a larger body is forwarded without being stored.
    ///   - oauth: Yandex OAuth with the registered application; nil if none is configured: tokens can be sent then,
    ///     but not obtained.
    ///   - media: Makes pictures and PDFs of files; nil to disable that.
    ///   - scratch: Directory of the files that child processes read.
    init(
        upstream: Upstream,
        oauth: (upstream: Upstream, application: YandexOAuthClient.Application)?,
        database: LarderDatabase,
        users: UserDatabase? = nil,
        seal: SharedSeal? = nil,
        sessions: SessionStore,
        events: EventStream,
        settings: SettingValues,
        budget: CacheBudget = .unlimited,
        accessRecorder: AccessRecorder = AccessRecorder(),
        media: MediaEngine? = nil,
        scratch: ScratchFolder,
        clock: WallClock,
        logger: Logger
    ) throws {
        composition = try DiskComposition(
            upstream: upstream,
            oauth: oauth.map { YandexOAuthClient(upstream: $0.upstream, application: $0.application) },
            database: database,
            users: users,
            seal: seal,
            sessions: sessions,
            events: DiskEvents(stream: events),
            settings: settings,
            budget: budget,
            accessRecorder: accessRecorder,
            media: media,
            scratch: scratch,
            clock: clock,
            logger: logger
        )
    }

    /// Files of the Disk for other apps.
    package var files: AccountFiles? { AccountFiles(composition.diskFiles) }

    /// Brings the cached data up to date with the accounts: data of accounts logged out while the server was down is
    /// removed.
    ///
    /// - Throws: `StorageError`.
    package func prepare() async throws { try await composition.store.followAll() }

    /// Tasks that outlive requests: downloads continue after a restart, and end with the server.
    package var services: [any Service] { composition.services }

    /// Resumes pending writes and offline work that wait for the API.
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {
        guard upstream.name == Self.disk.name else { return }
        composition.outboxKeeper.wake()
        composition.keeper.wake()
    }

    /// The mount of the API sends the token of the session's account.
    package var mountCredentials: [String: MountRoutes.CredentialProvider] {
        [Self.disk.name: { [tokens = composition.tokens] in try await tokens.mountCredential($0) }]
    }

    /// The routes of the app.
    package var routes: [Route] {
        let app = composition
        return [
            Route(.get, "/v1/disk/launch", "disk.launch", knownSession: Self.name, app.onboarding.launch),
            Route(.get, "/v1/disk/onboarding", "disk.onboarding", knownSession: Self.name, app.onboarding.show),
            Route(.put, "/v1/disk/onboarding", "disk.onboarding", knownSession: Self.name, app.onboarding.set)
                .body("seen"),
            Route(.delete, "/v1/disk/onboarding", "disk.onboarding", knownSession: Self.name, app.onboarding.reset),
            Route(.get, "/v1/disk/onboarding/{id}/image", "disk.onboarding", app.onboarding.picture),
            Route(.post, "/v1/disk/session/authorization", "disk.session", app.login.authorize),
            Route(.post, "/v1/disk/session", "disk.session", app.login.open)
                .body("mode", "access_token", "code", "state"),
            Route(.get, "/v1/disk/session", "disk.session", session: Self.name, app.login.show),
            Route(.delete, "/v1/disk/session", "disk.session", session: Self.name, app.login.close).query("confirm"),
            Route(.get, "/v1/disk/profile", "disk.profile", session: Self.name, app.profile.show).query("refresh"),
            Route(.get, "/v1/disk/profile/chart.svg", "disk.profile", session: Self.name, app.profile.chart)
                .query("refresh"),
            Route(.get, "/v1/disk/recent", "disk.recent", session: Self.name, app.listing.recent)
                .query(.page, "media_type", "tz", "refresh"),
            Route(.get, "/v1/disk/files", "disk.files", session: Self.name, app.listing.folder)
                .query("path", .page, "sort", "tz", "refresh"),
            Route(.post, "/v1/disk/files/move", "disk.file", session: Self.name, app.writes.move)
                .query("tz")
                .body("from", "to", "overwrite"),
            Route(.post, "/v1/disk/files/copy", "disk.file", session: Self.name, app.writes.copy)
                .query("tz")
                .body("from", "to", "overwrite"),
            Route(.post, "/v1/disk/folders", "disk.file", session: Self.name, app.writes.makeFolder)
                .query("tz")
                .body("path"),
            Route(.get, "/v1/disk/published", "disk.published", session: Self.name, app.listing.published)
                .query("type", .page, "tz", "refresh"),
            Route(.delete, "/v1/disk/published", "disk.published", session: Self.name, app.sharing.unpublish)
                .query("path"),
            Route(.get, "/v1/disk/search", "disk.search", session: Self.name, app.search.show)
                .query("q", .page, "tz", "refresh"),
            Route(.get, "/v1/disk/file", "disk.file", session: Self.name, app.files.show)
                .query("path", "tz", "refresh"),
            Route(.patch, "/v1/disk/file", "disk.file", session: Self.name, app.writes.rename)
                .query("path", "tz")
                .body("name"),
            Route(.delete, "/v1/disk/file", "disk.file", session: Self.name, app.writes.delete)
                .query("path", "permanently"),
            Route(.get, "/v1/disk/file/content", "disk.content", session: Self.name, app.content.show)
                .query("path", "disposition", "refresh"),
            Route(
                .put,
                "/v1/disk/file/content",
                "disk.content",
                session: Self.name,
                maximumBodyBytes: .max,
                app.writes.upload
            )
            .query("path", "overwrite", "tz"),
            Route(.get, "/v1/disk/file/preview", "disk.preview", session: Self.name, app.previews.show)
                .query("path", "size", "refresh"),
            Route(.get, "/v1/disk/file/page", "disk.page", session: Self.name, app.pages.page)
                .query("path", "page", "width", "refresh"),
            Route(.get, "/v1/disk/file/pdf", "disk.pdf", session: Self.name, app.pages.document)
                .query("path", "refresh"),
            Route(.get, "/v1/disk/offline", "disk.offline", session: Self.name, app.offline.show)
                .query(.page, "tz"),
            Route(.put, "/v1/disk/offline", "disk.offline", session: Self.name, app.offline.mark)
                .query("tz")
                .body("path"),
            Route(.delete, "/v1/disk/offline", "disk.offline", session: Self.name, app.offline.unmark)
                .query("path"),
            Route(.post, "/v1/disk/links", "disk.file", session: Self.name, app.sharing.publish)
                .body("path", "available_for_s"),
            Route(.post, "/v1/disk/downloads", "disk.file", session: Self.name, app.downloads.start).body("path"),
            Route(.get, "/v1/disk/downloads/{id}", "disk.file", session: Self.name, app.downloads.show),
            Route(.get, "/v1/disk/operations/{id}", "disk.operation", session: Self.name, app.operations.show),
            Route(.get, "/v1/disk/outbox", "disk.outbox", session: Self.name, app.outbox.list)
                .query(.page, "tz"),
            Route(.get, "/v1/disk/outbox/{id}", "disk.outbox", session: Self.name, app.outbox.show)
                .query("tz"),
            Route(.delete, "/v1/disk/outbox/{id}", "disk.outbox", session: Self.name, app.outbox.takeBack),
            Route(.post, "/v1/disk/outbox/{id}/retry", "disk.outbox", session: Self.name, app.outbox.retry)
                .query("tz"),
            Route(.post, "/v1/disk/outbox/{id}/resolve", "disk.outbox", session: Self.name, app.outbox.resolve)
                .query("tz")
                .body("how"),
            Route(.get, "/v1/disk/trash", "disk.trash", session: Self.name, app.trash.show)
                .query(.page, "tz", "refresh"),
            Route(.post, "/v1/disk/trash/restore", "disk.trash", session: Self.name, app.trash.restore)
                .body("path", "name", "overwrite"),
        ]
    }
}
