import ArgumentParser
import Foundation
import ResponseStore

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

    @OptionGroup var options: CacheOptions

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

    /// Returns a URL without parts that may be secret, on one line whatever an upstream put into it.
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
