package import AppInterface
import Database
package import Screens
package import Settings
import Upstream

extension DiskApp {
    /// The Disk. What it sends belongs to one account, and holds links that open files to anyone: it is passed on, and
    /// not stored by its mount.
    static let disk = UpstreamDescription(
        "yandex_disk",
        title: "Yandex Disk",
        url: "https://cloud-api.yandex.net/v1/disk",
        allowedHosts: [
            "*.disk.yandex.ru", "*.disk.yandex.net", "*.disk.yandex.com", "*.storage.yandex.net",
        ],
        hasSessions: true,
        limitsByCredential: true,
        isShared: false,
        storesBodies: false
    )
    /// Makes tokens for the Disk. Without it, clients can only send tokens.
    static let oauth = UpstreamDescription(
        "yandex_oauth",
        title: "Yandex OAuth",
        url: "https://oauth.yandex.ru",
        isOptional: true,
        isShared: false,
        storesBodies: false
    )
    /// The upstreams of the app.
    package static let upstreams = [disk, oauth]
    /// The problem codes of the app.
    package static let problems: [ProblemCode] = [
        .locked, .uploadLimit, .upstreamReadOnly, .notAFolder, .outboxFull, .outboxState,
    ]
    /// What is kept offline, of all accounts.
    package static let storedAmounts = [
        StoredAmount("offline files of the Disk", sql: "SELECT sum(length) FROM disk_offline_entry"),
        StoredAmount("uploads of the Disk that wait", sql: "SELECT sum(length) FROM disk_outbox"),
    ]
    /// The settings of the app.
    package static let settings = [
        Setting(
            "freshness.disk_s",
            .integer(0...31_536_000),
            default: "5",
            "freshness time of the Disk's lists and profile"
        ),
        Setting(
            "freshness.disk_search_s",
            .integer(0...31_536_000),
            default: "60",
            "freshness time of the list of all files, which the Disk's search looks through"
        ),
        Setting(
            "disk.time_zone",
            .timeZone,
            default: "UTC",
            "time zone of the Disk app's texts if a request names none"
        ),
        Setting(
            "disk.operation_wait_ms",
            .integer(0...600_000),
            default: "10000",
            "how long a write waits for an asynchronous operation of Yandex Disk before the response is 202"
        ),
        Setting(
            "disk.upload_response_s",
            .integer(1...86_400),
            default: "7200",
            "how long an upload waits for the response of Yandex Disk after its last byte: it computes checksums first, "
                + "which takes up to two minutes for each GiB"
        ),
        Setting("disk.downloads", .integer(1...64), default: "4", "concurrent downloads of the Disk app"),
        Setting(
            "disk.offline_budget_mb",
            .integer(0...1_048_576),
            default: "2048",
            "size limit in MiB of what an account of the Disk keeps offline; it is not part of `cache.budget_mb`",
            note: "[decision 100](decisions/0100-offline-files.md)"
        ),
        Setting(
            "disk.offline_files",
            .integer(1...100_000),
            default: "10000",
            "files and folders that an account of the Disk keeps offline at most"
        ),
        Setting(
            "disk.offline_fetches",
            .integer(1...8),
            default: "2",
            "requests to Yandex Disk at a time that keep offline files up to date in the background"
        ),
        Setting(
            "disk.offline_check_s",
            .integer(1...604_800),
            default: "900",
            "time after which what is kept offline is compared with Yandex Disk again"
        ),
        Setting(
            "disk.outbox_mb",
            .integer(0...1_048_576),
            default: "1024",
            "size limit in MiB of the uploads of an account of the Disk that wait for it; they are never evicted",
            note: "[outbox](outbox.md)"
        ),
        Setting(
            "disk.outbox_operations",
            .integer(0...100_000),
            default: "1000",
            "writes of an account of the Disk that wait for it at most; 0: none is accepted"
        ),
        Setting(
            "disk.oauth_client_id",
            .text,
            default: "",
            "client id of your application at Yandex OAuth; empty: no login with a code"
        ),
        Setting(
            "disk.oauth_client_secret",
            .text,
            default: "",
            "client secret of that application, if it has one; best set in the environment"
        ),
        Setting(
            "disk.oauth_redirect_uri",
            .text,
            default: "",
            "where Yandex OAuth sends the browser; empty: as registered"
        ),
    ]
}

extension DiskApp.Options {
    /// Reads the options of the app.
    init(_ context: AppContext) throws(SettingError) {
        self.init(
            timeZone: try context.settings.timeZone("disk.time_zone"),
            operationWait: try context.settings.milliseconds("disk.operation_wait_ms"),
            uploadResponse: try context.settings.seconds("disk.upload_response_s"),
            downloads: try context.settings.integer("disk.downloads"),
            searchFreshness: try context.settings.seconds("freshness.disk_search_s"),
            budget: context.cacheBudget,
            offline: OfflineOptions(
                budget: try context.settings.mebibytes("disk.offline_budget_mb"),
                files: try context.settings.integer("disk.offline_files"),
                fetches: try context.settings.integer("disk.offline_fetches"),
                checkInterval: try context.settings.seconds("disk.offline_check_s")
            ),
            outbox: OutboxOptions(
                bytes: try context.settings.mebibytes("disk.outbox_mb"),
                operations: try context.settings.integer("disk.outbox_operations")
            )
        )
    }
}

extension YandexOAuthClient.Application {
    /// Reads the application at Yandex OAuth; nil if none is configured.
    init?(_ settings: SettingValues) throws(SettingError) {
        let id = try settings.text("disk.oauth_client_id")
        let secret = try settings.text("disk.oauth_client_secret")
        let redirect = try settings.text("disk.oauth_redirect_uri")
        guard !id.isEmpty else { return nil }
        self.init(
            id: id,
            secret: secret.isEmpty ? nil : Secret(secret),
            redirectURI: redirect.isEmpty ? nil : redirect
        )
    }
}
