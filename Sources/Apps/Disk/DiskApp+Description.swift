import Foundation
import HTTPTypes
package import Screens
package import Storage
import Upstream

extension DiskApp {
    /// The API of Yandex Disk. Its responses belong to one account and contain links that open files to anyone. Its
    /// mount rewrites such links to its own addresses.
    static let disk = UpstreamDescription(
        "yandex_disk",
        title: "Yandex Disk",
        url: "https://cloud-api.yandex.net/v1/disk",
        allowedHosts: ["*.disk.yandex.ru", "*.disk.yandex.net", "*.disk.yandex.com", "*.storage.yandex.net"],
        hasSessions: true,
        limitsByCredential: true,
        isShared: false,
        leadsBack: true
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
    package static let upstreams = [disk, oauth]
    package static let problems: [ProblemCode] = [
        .locked, .uploadLimit, .upstreamReadOnly, .notAFolder, .outboxFull, .outboxState,
    ]
    /// The sizes of the offline contents and of the pending uploads, summed over all accounts.
    package static let storedAmounts = [
        StoredAmount("offline files of the Disk", sql: "SELECT sum(length) FROM disk_offline_entry"),
        StoredAmount("uploads of the Disk that wait", sql: "SELECT sum(length) FROM disk_outbox"),
    ]

    package static let records = [
        RecordTable("disk_item") { _ = try DiskItem(row: $0) },
        RecordTable("disk_download", of: DownloadJob.self),
        RecordTable("disk_operation", of: DiskOperation.self),
        RecordTable("disk_offline") { row in
            let _: DiskPath = try row.value("path") { DiskPath($0) }
            let _: DiskItem.Kind = try row.value("kind", DiskItem.Kind.init(rawValue:))
            let _: Date = try row.date("marked_at")
        },
        RecordTable("disk_outbox") { let _: OutboxEntry<QueuedWrite> = try DiskStore.outboxJournal.entry($0) },
    ]

    static let freshness = Setting(
        "freshness.disk_s",
        .seconds(0...31_536_000),
        default: .seconds(5),
        "freshness time of the Disk's lists and profile"
    )
    static let searchFreshness = Setting(
        "freshness.disk_search_s",
        .seconds(0...31_536_000),
        default: .seconds(60),
        "freshness time of the list of all files, which the Disk's search looks through"
    )
    static let timeZone = Setting(
        "disk.time_zone",
        .timeZone,
        default: .gmt,
        "time zone of the Disk app's texts if a request names none"
    )
    static let operationWait = Setting(
        "disk.operation_wait_ms",
        .milliseconds(0...600_000),
        default: .seconds(10),
        "how long a write waits for an asynchronous operation of Yandex Disk before the response is 202"
    )
    static let uploadResponse = Setting(
        "disk.upload_response_s",
        .seconds(1...86_400),
        default: .seconds(7200),
        "how long an upload waits for the response of Yandex Disk after its last byte: it computes checksums first, "
            + "which takes up to two minutes for each GiB"
    )
    static let downloads = Setting(
        "disk.downloads",
        .integer(1...64),
        default: 4,
        "concurrent downloads of the Disk app"
    )
    static let offlineBudget = Setting(
        "disk.offline_budget_mb",
        .mebibytes(0...1_048_576),
        default: 2048 << 20,
        "size limit in MiB of what an account of the Disk keeps offline; it is not part of `cache.budget_mb`",
        note: "[decision 100](decisions/0100-offline-files.md)"
    )
    static let offlineFiles = Setting(
        "disk.offline_files",
        .integer(1...100_000),
        default: 10_000,
        "files and folders that an account of the Disk keeps offline at most"
    )
    static let offlineFetches = Setting(
        "disk.offline_fetches",
        .integer(1...8),
        default: 2,
        "requests to Yandex Disk at a time that keep offline files up to date in the background"
    )
    static let offlineCheck = Setting(
        "disk.offline_check_s",
        .seconds(1...604_800),
        default: .seconds(900),
        "time after which what is kept offline is compared with Yandex Disk again"
    )
    static let outboxBytes = Setting(
        "disk.outbox_mb",
        .mebibytes(0...1_048_576),
        default: 1024 << 20,
        "size limit in MiB of the uploads of an account of the Disk that wait for it; they are never evicted",
        note: "[outbox](outbox.md)"
    )
    static let outboxOperations = Setting(
        "disk.outbox_operations",
        .integer(0...100_000),
        default: 1000,
        "writes of an account of the Disk that wait for it at most; 0: none is accepted"
    )
    package static let oauthClientID = Setting(
        "disk.oauth_client_id",
        .text,
        default: "",
        "client id of your application at Yandex OAuth; empty: no login with a code"
    )
    static let oauthClientSecret = Setting(
        "disk.oauth_client_secret",
        .text,
        default: "",
        "client secret of that application, if it has one; best set in the environment"
    )
    static let oauthRedirectURI = Setting(
        "disk.oauth_redirect_uri",
        .text,
        default: "",
        "where Yandex OAuth sends the browser; empty: as registered"
    )
    package static let settings: [any SettingDeclaration] = [
        freshness, searchFreshness, timeZone, operationWait, uploadResponse, downloads, offlineBudget, offlineFiles,
        offlineFetches, offlineCheck, outboxBytes, outboxOperations, oauthClientID, oauthClientSecret, oauthRedirectURI,
    ]
}

extension SettingForm<TimeZone> {
    fileprivate static var timeZone: Self {
        SettingForm(
            "a name of the time zone database, such as Europe/Moscow",
            column: "a name of the time zone database",
            value: { TimeZone(identifier: $0) },
            text: { $0 == .gmt ? "UTC" : $0.identifier }
        )
    }
}

extension YandexOAuthClient.Application {
    /// Reads the application at Yandex OAuth; nil if none is configured.
    init?(_ settings: SettingValues) {
        let id = settings[DiskApp.oauthClientID]
        let secret = settings[DiskApp.oauthClientSecret]
        let redirect = settings[DiskApp.oauthRedirectURI]
        guard !id.isEmpty else { return nil }
        self.init(id: id, secret: secret.isEmpty ? nil : Secret(secret), redirectURI: redirect.isEmpty ? nil : redirect)
    }
}

extension ProblemCode {
    private static let statusLocked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
    /// 423: another operation of the API holds the item; the same request may succeed later.
    static let locked = ProblemCode("locked", statusLocked, .lockedByOther, isRetryable: true)
    /// 423: the account has uploaded as much as it may.
    static let uploadLimit = ProblemCode("upload-limit", statusLocked, .uploadLimit)
    /// 423: the API is under maintenance, and can be read only.
    static let upstreamReadOnly = ProblemCode("upstream-read-only", statusLocked, .upstreamReadOnly, isRetryable: true)
    static let notAFolder = ProblemCode("not-a-folder", .conflict, .notAFolder)
    /// 507: more writes, or more of their bytes, would wait than may.
    static let outboxFull = ProblemCode("outbox-full", .init(code: 507), .outboxFull)
    /// 409: the state of a write that waits does not allow it.
    static let outboxState = ProblemCode("outbox-state", .conflict, .outboxState)
}
