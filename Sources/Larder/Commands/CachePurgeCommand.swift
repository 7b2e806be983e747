import ArgumentParser
import Database
import Foundation
import ResponseStore
import Screens

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

    @OptionGroup var options: CacheOptions

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
            StandardError.write("larder: \(error)\(hint)\n")
            throw ExitCode.failure
        }
    }

    private func remove(_ purge: CachePurge, _ configuration: LarderConfiguration) async throws {
        // A purge of nothing makes no data directory.
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
