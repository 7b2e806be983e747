import ArgumentParser
import Foundation
import ResponseStore

/// `larder cache size`.
struct CacheSizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "size",
        abstract: "Show how much each upstream has stored, against the budget.",
        discussion: """
            Counted are bodies, header fields and keys; what SQLite needs around them comes on top.

            EXAMPLES
              larder cache size
              larder cache size --data-directory ./data --cache-budget-mb 64
            """
    )

    @OptionGroup var options: CacheOptions

    func run() async throws {
        let configuration = try options.load()
        let budget = configuration.cacheBudget.bytes
        try configuration.inspectingCache { inspection in
            let totals = try inspection.totals()
            var lines = totals.upstreams.map {
                (
                    name: $0.upstream,
                    amount: "\(HumanReadable.bytes($0.bytes)) in \(HumanReadable.count($0.responses, "response"))"
                )
            }
            lines.append(
                (
                    "page lists",
                    "\(HumanReadable.bytes(totals.pageBytes)) in \(HumanReadable.count(totals.pages, "list"))"
                )
            )
            let sum = totals.upstreams.reduce(totals.pageBytes) { $0 + $1.bytes }
            lines.append(
                ("all", "\(HumanReadable.bytes(sum)) of \(HumanReadable.bytes(budget)) (\(sum * 100 / budget) %)")
            )
            let width = lines.map(\.name.count).max() ?? 0
            for line in lines {
                StandardOutput.write(
                    "\(line.name.padding(toLength: width, withPad: " ", startingAt: 0))  \(line.amount)\n"
                )
            }
        }
    }
}
