public import AppInterface
import Logging
import Media
public import Screens
public import ServiceLifecycle
import Settings
public import Storage

/// The Disk app.
public struct DiskApp: App {
    /// Name of the app.
    public static let name = "disk"
    /// Title of the app.
    public static let title = "Yandex Disk"
    /// The app's tables.
    public static let migrations = DiskStore.migrations
    private let service: DiskService

    /// Creates the app.
    public init(_ context: AppContext) throws {
        let secrets = try SealedSecrets(context.database)
        let api = YandexDiskAPI(
            upstream: try context.upstream(Self.disk),
            freshness: try context.settings.seconds("freshness.disk_s"),
            hasher: try secrets.credentialHasher()
        )
        let client = try YandexOAuthAPI.Client(context.settings)
        service = DiskService(
            api: api,
            oauth: context.optionalUpstream(Self.oauth).flatMap { upstream in
                client.map { YandexOAuthAPI(upstream: upstream, client: $0) }
            },
            store: DiskStore(context.database, secrets: secrets, api: api),
            sessions: context.sessions,
            events: context.events,
            options: try DiskService.Options(context),
            accessRecorder: context.accessRecorder,
            media: context.media,
            scratch: context.scratch,
            clock: context.clock,
            logger: context.logger
        )
    }

    /// The routes.
    public var routes: [Route] { DiskRoutes(service: service).routes }

    /// Downloads to the store.
    public var services: [any Service] { [DiskDownloads(service)] }

    /// The mount of the Disk takes the token of the account that is logged in.
    public var mountCredentials: [String: MountRoutes.CredentialProvider] {
        [Self.disk.name: { try service.mountCredential($0) }]
    }

    /// The files of the Disk.
    public var files: AccountFiles? { AccountFiles(DiskFiles(service)) }
}
