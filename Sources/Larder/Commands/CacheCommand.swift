import ArgumentParser
import Foundation
import Screens
import Storage

/// `larder cache`: lists, measures and purges cached responses.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List, measure and purge what is cached.",
        discussion: """
            Listing and measuring read only, also while a server uses the data directory.
            Purging needs the data directory for itself: stop the server first.

            EXAMPLES
              larder cache list --sort size
              larder cache size --data-directory ./data
              larder cache purge --older-than 7d --dry-run
              larder cache purge --upstream spacex --prefix /images/
            """,
        subcommands: [CacheListCommand.self, CacheSizeCommand.self, CachePurgeCommand.self],
        defaultSubcommand: CacheListCommand.self
    )
}

extension LarderConfiguration {
    /// The current time of a command: the time that a server's clock would show at start.
    var now: Date { settings[ServerSettings.clockStart] ?? Date() }

    /// Runs `body` on the cache, for reading. Ends the process with one line and exit code 1 if the data cannot be
    /// used.
    func inspectingCache(_ body: (CacheInspection) throws -> Void) throws {
        try Self.reportingStorageErrors {
            guard let inspection = try CacheInspection(at: dataDirectory) else {
                StandardOutput.write("nothing is cached: there is no database in \(dataDirectory.path)\n")
                return
            }
            try body(inspection)
        }
    }

    static func reportingStorageErrors(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StorageError {
            throw ExitCode.reporting("\(error)")
        }
    }

    /// Ends the process with one line and exit code 1 if there is no database, so that a mistyped directory is not
    /// created.
    func requireDatabase(_ hint: String = "") throws {
        guard CacheInspection.exists(at: dataDirectory) else {
            throw ExitCode.reporting("there is no database in \(dataDirectory.path)\(hint)")
        }
    }
}

/// `larder cache list`.
struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the stored responses.",
        discussion: """
            One line for each upstream, method and URL: status, size of all variants, time
            since the newest was received or confirmed, time since the last recorded use,
            number of variants.
            A * behind the number marks a response that rows were made of: it is never
            evicted nor purged. Queries may hold secrets and are left out; credentials are
            never shown.

            EXAMPLES
              larder cache list
              larder cache list --sort use    in the order of eviction
              larder cache list --upstream spacex --queries
            """
    )

    @Option(name: .long, help: "Only this upstream, its mount (NAME.raw) included.")
    var upstream: String?

    @Option(
        name: .long,
        help: "Sort by url, size (largest first), age (oldest first) or use (least recently used first).",
        transform: Self.order
    )
    var sort: CacheInspection.Order = .url

    @Flag(name: .long, help: "Show the queries of URLs. They may hold secrets.")
    var queries = false

    @OptionGroup var options: DataOptions

    private static func order(_ word: String) throws -> CacheInspection.Order {
        guard let order = CacheInspection.Order(rawValue: word) else {
            throw ValidationError("--sort accepts url, size, age and use.")
        }
        return order
    }

    func run() async throws {
        let configuration = try options.load()
        let now = configuration.now
        try configuration.inspectingCache { inspection in
            StandardOutput.write(CacheListing.header)
            try inspection.forEachEntry(sortedBy: sort, upstream: upstream) {
                StandardOutput.write(CacheListing.line($0, now: now, queries: queries))
            }
        }
    }
}

/// The table of `larder cache list`.
enum CacheListing {
    static let header = columns(["UPSTREAM", "METHOD", "STATUS", "SIZE", "AGE", "USED", "VARIANTS"], "URL")

    static func line(_ entry: CacheInspection.Entry, now: Date, queries: Bool) -> String {
        columns(
            [
                entry.upstream, entry.method, "\(entry.status)", HumanReadable.bytes(entry.bytes),
                HumanReadable.age(now.timeIntervalSince(entry.received)),
                HumanReadable.age(now.timeIntervalSince(entry.lastUsed)),
                "\(entry.variants)\(entry.isPinned ? "*" : "")",
            ],
            shown(entry.url, queries: queries)
        )
    }

    /// Returns a URL on one line, without parts that may be secret.
    static func shown(_ url: String, queries: Bool) -> String {
        var text = String(
            String.UnicodeScalarView(url.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 })
        )
        if !queries, let query = text.firstIndex(of: "?") { text = text[..<query] + "?…" }
        guard let scheme = text.firstRange(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        if let at = authority.lastIndex(of: "@") { text.replaceSubrange(scheme.upperBound...at, with: "") }
        return text
    }

    private static func columns(_ cells: [String], _ last: String) -> String {
        let widths = [14, 7, 7, 11, 7, 7, 9]
        let padded = zip(cells, widths).map { cell, width in
            cell.count < width ? cell.padding(toLength: width, withPad: " ", startingAt: 0) : cell + " "
        }
        return padded.joined() + last + "\n"
    }
}

/// `larder cache size`.
struct CacheSizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "size",
        abstract: "Show how much each upstream has stored, against the budget.",
        discussion: """
            Counted are bodies, header fields and keys; what SQLite needs around them
            comes on top.

            EXAMPLES
              larder cache size
              larder cache size --data-directory ./data --cache-budget-mb 64
            """
    )

    @OptionGroup var options: DataOptions

    func run() async throws {
        let configuration = try options.load()
        let budget = configuration.settings[ServerSettings.cacheBudget].bytes
        try configuration.inspectingCache { inspection in
            StandardOutput.write(HumanReadable.table(Self.rows(try inspection.totals(), budget: budget)))
        }
    }

    private static func rows(
        _ totals: (upstreams: [ResponseStore.Total], pages: Int, pageBytes: Int),
        budget: Int
    ) -> [[String]] {
        func amount(_ bytes: Int, _ count: Int, _ noun: String) -> String {
            "\(HumanReadable.bytes(bytes)) in \(HumanReadable.count(count, noun))"
        }
        let sum = totals.upstreams.reduce(totals.pageBytes) { $0 + $1.bytes }
        let share = "\(HumanReadable.bytes(sum)) of \(HumanReadable.bytes(budget)) (\(sum * 100 / budget) %)"
        return totals.upstreams.map { [$0.upstream, amount($0.bytes, $0.responses, "response")] } + [
            ["page lists", amount(totals.pageBytes, totals.pages, "list")], ["all", share],
        ]
    }
}

/// `larder cache purge`.
struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove what is cached: by upstream, path prefix and age, or all.",
        discussion: """
            Removes what meets all conditions. Sessions, deletions, rows and secrets stay,
            and so do responses that rows were made of. Page lists are removed with --all
            and with --older-than alone.
            A server that uses the data directory has to be stopped first, because it
            holds responses in memory that it would not know to be removed; --dry-run
            works beside it.

            EXAMPLES
              larder cache purge --all
              larder cache purge --upstream spacex --dry-run
              larder cache purge --prefix /v4/ --older-than 7d
            """
    )

    @Option(name: .long, help: "Only responses of this upstream, its mount (NAME.raw) included.")
    var upstream: String?

    @Option(name: .long, help: "Only responses whose URL has a path that begins with this, such as /v4/.")
    var prefix: String?

    @Option(name: .long, help: "Only what was received, or last confirmed, so long ago: 30s, 15m, 12h, 7d, 2w.")
    var olderThan: Age?

    @Flag(name: .long, help: "Everything.")
    var all = false

    @Flag(name: .long, help: "Only say what would be removed.")
    var dryRun = false

    @OptionGroup var options: DataOptions

    func validate() throws {
        let isConditional = upstream != nil || prefix != nil || olderThan != nil
        guard all != isConditional else {
            throw ValidationError(
                all
                    ? "--all goes without conditions."
                    : "Say what is to go: --upstream, --prefix, --older-than or --all."
            )
        }
        if let prefix, !prefix.hasPrefix("/") { throw ValidationError("--prefix is that of a path and begins with /.") }
    }

    func run() async throws {
        let configuration = try options.load()
        let purge = CachePurge(
            upstream: upstream,
            pathPrefix: prefix,
            receivedBefore: olderThan.map { configuration.now - $0.seconds }
        )
        if dryRun {
            try configuration.inspectingCache {
                StandardOutput.write(PurgeText.text(try $0.preview(of: purge), verb: "would remove"))
            }
            return
        }
        do {
            try await remove(purge, configuration)
        } catch let error as StorageError {
            let hint = if case .directoryInUse = error { " Stop it to purge; --dry-run works beside it." } else { "" }
            throw ExitCode.reporting("\(error)\(hint)")
        }
    }

    private func remove(_ purge: CachePurge, _ configuration: LarderConfiguration) async throws {
        // A purge must not create a data directory.
        guard CacheInspection.exists(at: configuration.dataDirectory) else {
            StandardOutput.write("nothing is cached: there is no database in \(configuration.dataDirectory.path)\n")
            return
        }
        let database = try configuration.openDatabase(label: "cache")
        let bar = ProgressBar()
        defer { bar.end() }
        let report = try await purge.run(on: database, progress: bar.show(_:))
        try database.close()
        bar.end()
        StandardOutput.write(PurgeText.text(report, verb: "removed"))
    }
}

/// The result of a purge, for people.
enum PurgeText {
    static func text(_ report: CachePurge.Report, verb: String) -> String {
        var lines = report.upstreams.sorted { $0.key < $1.key }.map { name, share in
            let responses = HumanReadable.count(share.responses, "response")
            return "\(verb) \(responses) of \(name), \(HumanReadable.bytes(share.bytes))"
        }
        if report.pages > 0 { lines.append("\(verb) \(HumanReadable.count(report.pages, "page list"))") }
        if lines.isEmpty { lines.append("\(verb) nothing") }
        if report.pinned > 0 {
            lines.append("kept \(HumanReadable.count(report.pinned, "response")) that rows were made of")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
