import ArgumentParser
import CZlib
import Cluster
import Foundation
import GRDB
import HTTPTypes
import Logging
import Media
import NIOCore
import NIOPosix
import Screens
import Server
import Storage
import Upstream

/// `larder doctor`: checks everything that Larder needs, and reports defects.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check settings, data directory, store, files, address, certificate, libraries, programs, upstreams.",
        discussion: """
            The data is looked at as larder serve does at its start, and left as it is.
            With --deep all files are read and compared with their checksums.

            Exit code 0: all is well. 1: Larder cannot work like this, or files of stored
            data are missing. 2: Larder works, but not all of it: an upstream cannot be
            reached (it will respond from its store), a program is missing, the disk is
            full, there are files that no row names, a clock differs from PostgreSQL's,
            another program listens on the address, or the certificate ends soon or is
            not for the address.

            EXAMPLES
              larder doctor
              larder doctor --deep --data-directory ./data
              larder doctor --upstreams-spacex-url http://127.0.0.1:9000/spacex
            """
    )

    @Flag(name: .long, help: "Read all files of the data directory, and compare them with their checksums.")
    var deep = false

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load()
        let bar = ProgressBar()
        defer { bar.end() }
        var findings = DataCheck.findings(
            at: configuration.dataDirectory,
            apps: configuration.apps,
            readsFiles: deep,
            progress: bar.show(_:)
        )
        if let store = configuration.store {
            bar.show("asking the store", 0, of: 0)
            findings.append(await StoreCheck.finding(store, configuration.apps, now: Date()))
        }
        let isServed = findings.contains { $0.detail.contains(DataCheck.inUse) }
        findings.append(await AddressCheck.finding(configuration, isServed: isServed))
        findings.append(AccessFinding.finding(configuration))
        findings += CertificateCheck.findings(configuration, now: Date())
        findings.append(Libraries.sqlite())
        findings.append(Libraries.zlib())
        bar.show("trying programs", 0, of: 0)
        findings += try await MediaCheck.findings(configuration.media)
        let elsewhere = configuration.elsewhere.upstreams
        let upstreams = configuration.upstreams.byName.values.filter { !elsewhere.contains($0.name) }
        for upstream in upstreams.sorted(by: { $0.name < $1.name }) {
            bar.show("asking \(upstream.name)", 0, of: 0)
            findings.append(try await UpstreamCheck.finding(upstream))
        }
        bar.end()
        StandardOutput.write(Check.table(findings))
        if findings.contains(where: { $0.verdict == .broken }) { throw ExitCode(1) }
        if findings.contains(where: { $0.verdict == .degraded }) { throw ExitCode(2) }
    }
}

/// One line of the doctor's table.
struct Check: Sendable, Equatable {
    enum Verdict: String, Sendable {
        case well = "ok"
        /// Optional and missing.
        case absent = "none"
        case degraded = "warn"
        case broken = "FAIL"
    }

    let subject: String
    let verdict: Verdict
    let detail: String

    init(_ subject: String, _ verdict: Verdict, _ detail: String) {
        self.subject = subject
        self.verdict = verdict
        self.detail = detail
    }

    static func table(_ findings: [Check]) -> String {
        HumanReadable.table(
            findings.map { finding in
                let verdict = finding.verdict.rawValue.padding(toLength: 4, withPad: " ", startingAt: 0)
                return [finding.subject, verdict, finding.detail]
            }
        )
    }
}

/// Checks the data directory as the server does at its start, and also all pages, references between rows and, if
/// requested, the content of all files. Changes nothing.
enum DataCheck {
    /// Part of the finding about a directory that a server uses.
    static let inUse = "in use by"

    static func findings(
        at url: URL,
        apps: AppList,
        readsFiles: Bool,
        progress: @escaping ProgressReceiver
    ) -> [Check] {
        do {
            let directory = try DataDirectory(at: url)
            return [place(url), space(url)]
                + contents(of: directory, apps, readsFiles, progress)
        } catch StorageError.directoryInUse(_, let pid) {
            let owner = pid.map { "process \($0)" } ?? "another process"
            let detail = "\(url.path), \(inUse) \(owner); its /health/ready tells of its database"
            return [Check("data directory", .well, detail), space(url)]
        } catch {
            return [Check("data directory", .broken, "\(error)")]
        }
    }

    private static func place(_ url: URL) -> Check {
        let mode = try? FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        let isOpen = (mode ?? 0) & 0o002 != 0
        return isOpen
            ? Check("data directory", .degraded, "\(url.path), in which other users may write: chmod 0700")
            : Check("data directory", .well, url.path)
    }

    private static func space(_ url: URL) -> Check {
        var status = statvfs()
        let isKnown = statvfs(url.path, &status) == 0
        let bytes = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        let free = isKnown ? "\(bytes >> 20) MiB are free" : "unknown"
        guard SpaceProbe(in: url.path).hasSpace() else {
            return Check("space", .degraded, "the disk or its quota is full (\(free)): only deletions are stored")
        }
        return Check("space", .well, free)
    }

    private static func contents(
        of directory: DataDirectory,
        _ apps: AppList,
        _ readsFiles: Bool,
        _ progress: @escaping ProgressReceiver
    ) -> [Check] {
        do {
            var cached: String?
            let found = try DirectoryCheck(
                of: directory,
                migrations: apps.migrations,
                options: .init(integrityCheck: .always),
                readsFiles: readsFiles,
                inspect: { db in
                    for table in apps.records { try table.check(db, path: directory.databasePath) }
                    let totals = try ResponseStore.totals(in: db)
                    let responses = totals.reduce(0) { $0 + $1.responses }
                    cached = "\(responses) stored responses, \(totals.reduce(0) { $0 + $1.bytes }) bytes"
                    for amount in apps.storedAmounts {
                        guard let bytes = try Int.fetchOne(db, sql: amount.sql) else { continue }
                        cached?.append("; \(amount.title): \(bytes) bytes")
                    }
                },
                progress: progress
            )
            guard !found.isNew else {
                return [Check("database", .well, "none yet; the first start of larder serve creates it")]
            }
            let state = cached ?? "of an older build, which larder serve brings up to date"
            return [Check("database", .well, "whole; \(state)")] + blobs(found.files, readsFiles)
        } catch {
            return [Check("database", .broken, "\(IntegrityCheck.naming(error))")]
        }
    }

    private static func blobs(_ found: BlobCheck, _ areRead: Bool) -> [Check] {
        let files = HumanReadable.count(found.count, "file")
        var findings: [Check] = []
        if let faults = found.faults() {
            findings.append(
                Check("blobs", .broken, "\(files) named by rows; \(faults); restore them from a backup")
            )
        }
        if let strangers = found.strangers() {
            findings.append(Check("blobs", .degraded, "\(strangers); no row names them, and nothing removes them"))
        }
        let unread = areRead || found.count == 0 ? "" : "; --deep compares their content"
        return findings.isEmpty ? [Check("blobs", .well, files + unread)] : findings
    }
}

/// Checks whether the server can listen.
enum AddressCheck {
    /// - Parameter isServed: Whether a server uses the data directory, and therefore listens already.
    static func finding(_ configuration: LarderConfiguration, isServed: Bool) async -> Check {
        let (host, port) = (configuration.settings[HTTPSettings.host], configuration.settings[HTTPSettings.port])
        do {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            try await bootstrap.bind(host: host, port: port).get().close()
            return Check("address", .well, "\(host):\(port) is free")
        } catch {
            guard !isServed else { return Check("address", .well, "\(host):\(port), as the data directory, is in use") }
            let problem = CannotListen(host: host, port: port, cause: error).map { "\($0)" } ?? "\(error)"
            return Check("address", .degraded, problem)
        }
    }
}

/// Checks the certificate of the server, as `larder serve` does at its start, and whether it fits the address.
enum CertificateCheck {
    /// - Parameter now: The time at which the certificate has to be valid.
    /// - Returns: Nothing for a server without TLS.
    static func findings(_ configuration: LarderConfiguration, now: Date) -> [Check] {
        guard let files = configuration.certificate else { return [] }
        do throws(CertificateError) {
            let certificate = try ServerCertificate(files, protocols: [], now: now)
            return [finding(certificate, for: configuration.settings[HTTPSettings.host], now)]
        } catch {
            return [Check("certificate", .broken, "\(error)")]
        }
    }

    private static func finding(_ certificate: ServerCertificate, for host: String, _ now: Date) -> Check {
        let names = certificate.names.all.joined(separator: " ")
        var flaws: [String] = []
        if certificate.isKeyPublic { flaws.append("every user of this machine may read its key") }
        if certificate.notAfter.timeIntervalSince(now) < CertificateReload.warningTime {
            flaws.append("it ends soon")
        }
        if !Self.anyAddress.contains(host), !certificate.names.contains(host.lowercased()) {
            flaws.append("it is not for \(host), the address that is listened on")
        }
        let detail = "for \(names), until \(CertificateError.text(of: certificate.notAfter))"
        return Check(
            "certificate",
            flaws.isEmpty ? .well : .degraded,
            ([detail] + flaws).joined(separator: "; ")
        )
    }

    /// Addresses to listen at that no client can request.
    private static let anyAddress: Set<String> = ["0.0.0.0", "::"]
}

/// Describes who has access.
enum AccessFinding {
    static func finding(_ configuration: LarderConfiguration) -> Check {
        do throws(AccessCheck) {
            try AccessCheck.check(configuration)
        } catch {
            return Check("access", .broken, "\(error)")
        }
        let settings = configuration.settings
        switch settings[HTTPSettings.access] {
        case .loopback: return Check("access", .well, "this machine only")
        case .open:
            let verdict: Check.Verdict = configuration.publicURL != nil ? .well : .degraded
            let (host, port) = (settings[HTTPSettings.host], settings[HTTPSettings.port])
            return Check("access", verdict, "everyone who reaches \(host):\(port)")
        case .pairing:
            let isSecure = configuration.certificate != nil || configuration.publicURL != nil
            guard !isSecure else { return Check("access", .well, "paired devices") }
            let flaw = "without a certificate their tokens go over the network in clear"
            return Check("access", .degraded, "paired devices; \(flaw)")
        }
    }
}

/// Checks the system libraries that are linked.
enum Libraries {
    /// SQLite with the parts that Larder's tables use: FTS5 and R-tree.
    static func sqlite() -> Check {
        do {
            let (version, options) = try DatabaseQueue().read { db in
                (
                    try String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "",
                    try String.fetchSet(db, sql: "PRAGMA compile_options")
                )
            }
            let missing = ["ENABLE_FTS5", "ENABLE_RTREE"].filter { !options.contains($0) }
            guard missing.isEmpty else {
                return Check(
                    "sqlite",
                    .broken,
                    "\(version) lacks \(missing.joined(separator: ", ")); install libsqlite3-0"
                )
            }
            return Check("sqlite", .well, "\(version) with FTS5 and R-tree")
        } catch {
            return Check("sqlite", .broken, "\(error); install libsqlite3-0")
        }
    }

    static func zlib() -> Check {
        Check("zlib", .well, String(cString: zlibVersion()))
    }
}

/// Checks the programs for pictures and documents. A missing one is only a warning, because everything else works
/// without it. A missing optional one is not even a warning.
enum MediaCheck {
    static func findings(_ configuration: MediaConfiguration) async throws -> [Check] {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "larder-doctor-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let engine = try MediaEngine(tools: configuration.tools, limits: configuration.limits, folder: folder)
        return await engine.selfTest().map { found in
            let subject = found.tool.executable + (found.ability.map { " (\($0))" } ?? "")
            let verdict: Check.Verdict = found.works == true ? .well : found.tool.isOptional ? .absent : .degraded
            return Check(subject, verdict, found.detail)
        }
    }
}

/// Checks an upstream: one request, with the upstream's own timeouts.
enum UpstreamCheck {
    static func finding(_ configuration: UpstreamConfiguration) async throws -> Check {
        try await HTTPClientTransport.during(connectTimeout: configuration.connectTimeout) {
            await finding(configuration, $0)
        }
    }

    private static func finding(_ configuration: UpstreamConfiguration, _ transport: some Transport) async -> Check {
        let subject = "upstream \(configuration.name)"
        let url = configuration.url(of: configuration.probePath)
        let limits = TransportLimits(
            total: configuration.totalTimeout,
            maximumBytes: configuration.maximumResponseBytes,
            publicAddressesOnly: false
        )
        do throws(UpstreamError) {
            let response = try await transport.exchange(OutgoingRequest(url: url), within: limits)
            let code = response.status.code
            return Check(subject, code < 500 ? .well : .degraded, "\(url) responds with \(code)")
        } catch {
            switch error {
            case .unreachable(let reason):
                return Check(subject, .degraded, "\(url) cannot be reached (\(reason.rawValue))")
            default: return Check(subject, .degraded, "\(url): \(error)")
            }
        }
    }
}

/// Checks the store that several servers share, and changes nothing.
enum StoreCheck {
    /// - Parameter now: The time of this machine's clock.
    static func finding(_ configuration: StoreConfiguration, _ apps: AppList, now: Date) async -> Check {
        let database = PostgresDatabase(configuration.options, logger: .silent)
        defer { database.close() }
        do {
            let seal = try configuration.seal()
            try await database.checkSessions()
            let missing = try await database.missing(of: apps.sharedMigrations)
            let encryption = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
            let isEncrypted: [Bool] = try await database.rows(encryption) { try $0.value("ssl") }
            let tables = missing.isEmpty ? "with the tables of this build" : "larder serve will add tables to it"
            let state = "\(tables); \(isEncrypted == [true] ? "encrypted" : "not encrypted")"
            // The tables exist if none is missing.
            if missing.isEmpty, apps.sealsSharedSecrets, let seal, try await !seal.isRecorded(in: database) {
                throw ClusterSeal.WrongKey()
            }
            let ahead = now.timeIntervalSince(try await database.time())
            guard abs(ahead) <= RetentionClock.tolerance else {
                let difference = "\(Int(abs(ahead))) s \(ahead > 0 ? "ahead of" : "behind") its clock"
                return Check("store", .degraded, "PostgreSQL responds; \(state); this machine's clock is \(difference)")
            }
            return Check("store", .well, "PostgreSQL responds; \(state); copies of remote APIs stay with each process")
        } catch {
            return Check("store", .broken, "\(error)")
        }
    }
}
